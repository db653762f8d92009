import type { JsonObject } from '../../graph/json.js';
import { propertiesOf } from '../forms/schema.js';
import { asArray, asObject } from '../ui/json.js';
import { formatSeconds } from '../ui/time-units.js';

/** Describes the people who decide about an agent's calls, their time limit, and the effect of a rejection. */
export function approvalSentence(schema: JsonObject, settings: JsonObject): string {
  const approval = asObject(settings['approval']);
  const required = Number(approval['required'] ?? 1);
  const people = required === 1 ? 'One person has' : `${required} people have`;
  const roles = asArray(approval['roles']).map(String);
  const who = roles.length === 0 ? 'editor, admin or owner' : roles.join(' or ');
  const starter = approval['exclude_starter'] === true ? ', but not the one who started the run' : '';
  const seconds = Number(settings['approval_timeout'] ?? propertiesOf(schema)['approval_timeout']?.['default']);
  const end = Number.isFinite(seconds) ? ` within ${formatSeconds(seconds)}` : '';
  const rejected =
    settings['on_reject'] === 'fail'
      ? 'A rejected call fails the node.'
      : 'The model is told of a rejected call and goes on.';
  return `${people} to approve a call${end}. Any ${who} of the project may decide${starter}. ${rejected}`;
}
