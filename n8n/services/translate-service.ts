// Translates service nodes of n8n into actions of the catalogue.
import { ownValue } from '../../graph/json.js';
import { textOf } from '../n8n-file.js';
import { NotTranslatable, type NodeTranslation, type TranslatedNode } from '../node-translation.js';
import { translateOperation } from './add-action.js';
import { airtable } from './airtable.js';
import { discord } from './discord.js';
import { Given } from './given.js';
import { github, gitlab } from './github.js';
import { gmail } from './gmail.js';
import { googleCalendar } from './google-calendar.js';
import { googleDrive } from './google-drive.js';
import { googleSheets } from './google-sheets.js';
import { outlook, sendGrid, twilio } from './messages.js';
import { notion } from './notion.js';
import type { Service } from './operation.js';
import { slack } from './slack.js';
import { supabase } from './supabase.js';
import { asana, clickUp, jira, todoist, trello } from './tasks.js';
import { telegram } from './telegram.js';

/** By the type of the node. */
export const services: Readonly<Record<string, Service>> = {
  'n8n-nodes-base.airtable': airtable,
  'n8n-nodes-base.asana': asana,
  'n8n-nodes-base.clickUp': clickUp,
  'n8n-nodes-base.discord': discord,
  'n8n-nodes-base.github': github,
  'n8n-nodes-base.gitlab': gitlab,
  'n8n-nodes-base.gmail': gmail,
  'n8n-nodes-base.googleCalendar': googleCalendar,
  'n8n-nodes-base.googleDrive': googleDrive,
  'n8n-nodes-base.googleSheets': googleSheets,
  'n8n-nodes-base.jira': jira,
  'n8n-nodes-base.microsoftOutlook': outlook,
  'n8n-nodes-base.notion': notion,
  'n8n-nodes-base.sendGrid': sendGrid,
  'n8n-nodes-base.slack': slack,
  'n8n-nodes-base.supabase': supabase,
  'n8n-nodes-base.telegram': telegram,
  'n8n-nodes-base.todoist': todoist,
  'n8n-nodes-base.trello': trello,
  'n8n-nodes-base.twilio': twilio,
};

export function translateService(at: NodeTranslation): TranslatedNode {
  const service = services[at.node.type]!;
  if (at.node.version < (service.since ?? 0))
    throw new NotTranslatable(`its version ${at.node.version} has other parameters`);
  const given = new Given(at);
  given.raw('authentication');
  const resource = given.word('resource', service.resource);
  const operation = given.word('operation', textOf(ownValue(service.byDefault, resource)) ?? '');
  const name = `${resource}/${operation}`;
  const found = Object.hasOwn(service.operations, name) ? service.operations[name] : undefined;
  if (found === undefined) throw new NotTranslatable(`its operation "${operation}" of "${resource}" has no equivalent`);
  return typeof found === 'function' ? found(given, service) : translateOperation(given, service, found);
}
