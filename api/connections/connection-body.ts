// Validates the data that people enter for a connection: the fields of its kind, and the addresses that secrets go to.
import { z } from 'zod';
import { ADDRESS_SETTINGS, CONNECTION_KINDS, connectionKinds } from '../../connections/kinds.js';
import { toOrigin } from '../../connections/origins.js';
import { isWithin } from '../../graph/origins.js';
import type { ConnectionKind } from '../../db/core/tables.js';
import { holdsCredentials } from '../../graph/address-credentials.js';
import { namesRefusedAddress } from '../../outgoing/refused-addresses.js';
import type { Environment } from '../../config/environment.js';
import { invalidFields } from '../http/errors.js';
import { upTo } from '../http/field-errors.js';
import { cutText } from '../../graph/cut-text.js';

const MOST_ORIGINS = 20;
const anything = upTo(50, z.record(z.string(), z.unknown()));
const name = z.string().trim().min(1).max(100);
const origins = upTo(MOST_ORIGINS, z.array(z.string().max(300)).min(1));

export const newConnectionBody = z.object({
  name,
  kind: z.enum(CONNECTION_KINDS),
  origins: origins.describe('`https://host[:port]`, or `https://*.host`'),
  settings: anything.default({}).describe('By the kind'),
  secrets: anything.default({}).describe('By the kind; never read back'),
});

export const changedConnectionBody = z
  .object({ name, origins, settings: anything, secrets: anything })
  .partial()
  .describe('A secret that is left out, or ********, keeps its value; null removes an optional one');

interface Rules {
  config: Pick<Environment, 'addressRules'>;
}

export interface Entered {
  origins: string[];
  settings: Record<string, unknown>;
  secrets: Record<string, unknown>;
}

/**
 * Checks settings, secrets, origins, the addresses in the settings, and whether the parts fit together, in this order.
 * Throws a 400 for the first of these that has errors. Returns the parsed values.
 */
export function checkEntered(deps: Rules, kind: ConnectionKind, entered: Entered): Entered {
  const schemas = connectionKinds[kind];
  const settings = parseNamed('settings', schemas.settings, entered.settings) as Record<string, unknown>;
  const secrets = parseNamed('secrets', schemas.secrets, entered.secrets) as Record<string, unknown>;
  const found = entered.origins.map((text) => toOrigin(text, deps.config.addressRules.allowPrivateNetwork));
  const wrong = entered.origins.filter((_, index) => found[index] === undefined || isRefused(deps, found[index]));
  if (wrong.length > 0)
    throw invalidFields({ origins: wrong.map((text) => `Enter a valid origin in place of "${cutText(text, 100)}".`) });
  const named = ADDRESS_SETTINGS.filter((key) => settings[key] !== undefined);
  const refused = named.filter((key) => !isAddress(deps, String(settings[key])));
  if (refused.length > 0) {
    throw invalidFields({ settings: refused.map((key) => `${key}: ${whyRefused(String(settings[key]))}`) });
  }
  const own = [...new Set(found as string[])];
  const server = settings['server_url'];
  if (typeof server === 'string' && !isWithin(own, new URL(server))) {
    throw invalidFields({ origins: ['The origin of the MCP server should be among them.'] });
  }
  checkPairs(settings, secrets);
  return { origins: own, settings, secrets };
}

/** Reports errors of inner fields under the field that contains them. */
function parseNamed(field: 'settings' | 'secrets', schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.flatMap(sentencesOf);
  throw invalidFields({ [field]: [...new Set(sentences)].slice(0, 20) });
}

function sentencesOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String).join('.');
  return [path === '' ? issue.message : `${path}: ${issue.message}`];
}

function isAddress(deps: Rules, text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isPlain = !holdsCredentials(text) && url.hash === '';
  const origin = toOrigin(url.origin, deps.config.addressRules.allowPrivateNetwork);
  return isPlain && origin !== undefined && !namesRefusedAddress(url, deps.config.addressRules);
}

function whyRefused(address: string): string {
  if (!holdsCredentials(address)) return 'Enter a valid URL.';
  return 'Enter an address without a user name and password: these belong in the secrets of a connection.';
}

/**
 * True if requests to the origin would be refused whatever address its name has. People learn that when they enter the
 * origin, not when a run fails.
 */
function isRefused({ config }: Rules, origin: string): boolean {
  return namesRefusedAddress(new URL(origin.replace('*.', 'any.')), config.addressRules);
}

/** Throws 400 unless there are as many values as names. */
function checkPairs(settings: Record<string, unknown>, secrets: Record<string, unknown>): void {
  const names = settings['names'];
  const values = secrets['values'];
  if (!Array.isArray(names) && !Array.isArray(values)) return;
  if (Array.isArray(names) && Array.isArray(values) && names.length === values.length) return;
  throw invalidFields({ secrets: ['Enter as many values as there are names.'] });
}
