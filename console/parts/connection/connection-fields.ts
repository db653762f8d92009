// Converts between the form of a connection and the body of requests. A field with several values shows one value per
// line.
import { toFieldWords } from '../../ui/field-words.js';
import { ServiceError } from '../../../clients/typescript/src/index.js';
import { asArray, asText } from '../../ui/json.js';
import { MASK } from '../../../graph/mask-text.js';
import type { Connection, ConnectionBody, ConnectionKind, Preset } from './connection-types.js';

export interface FieldSpec {
  key: string;
  label: string;
  hint?: string;
  isOptional?: boolean;
  /** True if an empty text is a valid value. */
  isEmptySent?: boolean;
  /** `words` are separated by white space; `pairs` are `name=value`, one per line. */
  shape?: 'url' | 'words' | 'pairs' | 'clientAuth';
}

interface KindSpec {
  label: string;
  /** Says which credential requests carry, or who signs in. */
  description: string;
  settings: readonly FieldSpec[];
  secrets: readonly FieldSpec[];
  /** Set if the kind has rows of names and secret values: the label of the names. */
  rows?: string;
}

const SCOPES = { key: 'scopes', label: 'Scopes', isOptional: true, shape: 'words' } as const;
const SECRET_OF_CLIENT = { key: 'client_secret', label: 'Client secret' } as const;
const ADDRESS_HINT = 'The client ID and its secret are sent there.';
const CLIENT_AUTH = {
  key: 'client_auth',
  label: 'How the client secret is sent',
  isOptional: true,
  shape: 'clientAuth',
} as const;

/** Fields of each kind, in the order of the form. */
export const KINDS: Readonly<Record<ConnectionKind, KindSpec>> = {
  bearer: {
    label: 'Bearer token',
    description: 'A token in the header Authorization.',
    settings: [],
    secrets: [{ key: 'token', label: 'Token' }],
  },
  header: {
    label: 'Header',
    description: 'A key in a header, or in several.',
    settings: [],
    secrets: [],
    rows: 'Header',
  },
  query: {
    label: 'Query parameter',
    description: 'A key in the query of the address.',
    settings: [],
    secrets: [],
    rows: 'Parameter',
  },
  path: {
    label: 'Part of the path',
    description: 'A key in the path of the address.',
    settings: [
      {
        key: 'prefix',
        label: 'Path prefix',
        hint: 'The value comes behind it: `/bot` makes `/bot/getMe` to `/bot<value>/getMe`.',
      },
    ],
    secrets: [{ key: 'value', label: 'Value' }],
  },
  basic: {
    label: 'User name and password',
    description: 'Basic authentication.',
    settings: [{ key: 'username', label: 'User name', isOptional: true, isEmptySent: true }],
    secrets: [{ key: 'password', label: 'Password' }],
  },
  oauth2: {
    label: 'OAuth 2',
    description: 'A person signs in at the provider.',
    settings: [
      { key: 'client_id', label: 'Client ID', hint: 'Of the application that you have registered at the provider.' },
      { key: 'authorize_url', label: 'Authorization URL', shape: 'url' },
      { key: 'token_url', label: 'Token URL', shape: 'url', hint: ADDRESS_HINT },
      SCOPES,
      {
        key: 'authorize_params',
        label: 'Further parameters',
        hint: 'Of the authorization address: `name=value`, one a line.',
        isOptional: true,
        shape: 'pairs',
      },
      CLIENT_AUTH,
    ],
    secrets: [{ ...SECRET_OF_CLIENT, isOptional: true, hint: 'Empty for a client without one.' }],
  },
  oauth2_client_credentials: {
    label: 'OAuth 2 as an application',
    description: 'The service signs in by itself, with client credentials.',
    settings: [
      { key: 'client_id', label: 'Client ID' },
      { key: 'token_url', label: 'Token URL', shape: 'url', hint: ADDRESS_HINT },
      SCOPES,
      { key: 'audience', label: 'Audience', isOptional: true },
      CLIENT_AUTH,
    ],
    secrets: [SECRET_OF_CLIENT],
  },
  mcp_oauth: {
    label: 'MCP server with a sign-in',
    description: 'A person signs in for an MCP server.',
    settings: [
      { key: 'server_url', label: 'Server URL', shape: 'url' },
      {
        key: 'client_id',
        label: 'Client ID',
        isOptional: true,
        hint: 'Empty: the service registers itself at the server.',
      },
      SCOPES,
    ],
    secrets: [{ ...SECRET_OF_CLIENT, isOptional: true, hint: 'Empty for a client without one.' }],
  },
};

export const CONNECTION_KINDS = Object.keys(KINDS) as ConnectionKind[];

/** True if connections of the kind need a person to sign in. */
export function needsSignIn(kind: ConnectionKind): boolean {
  return kind === 'oauth2' || kind === 'mcp_oauth';
}

interface NameAndValue {
  name: string;
  value: string;
}

export interface ConnectionFields {
  kind: ConnectionKind;
  name: string;
  /** The origins, one per line. */
  origins: string;
  settings: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
  rows: readonly NameAndValue[];
}

/** Initial fields of a new connection, from a kind or a service. Placeholders in addresses remain. */
export function newFields(from: ConnectionKind | Preset, usedNames: readonly string[] = []): ConnectionFields {
  const preset = typeof from === 'string' ? { kind: from, name: '', origins: [], settings: {} } : from;
  const settings = preset.settings as Readonly<Record<string, unknown>>;
  return {
    kind: preset.kind,
    name: freeName(preset.name, usedNames),
    origins: preset.origins.join('\n'),
    settings: toTexts(preset.kind, settings),
    secrets: {},
    rows: toRows(preset.kind, settings),
  };
}

/** Returns the fields of a stored connection, without its secrets. */
export function fieldsOf({ kind, name, origins, settings }: Connection): ConnectionFields {
  const texts = toTexts(kind, settings);
  return { kind, name, origins: origins.join('\n'), settings: texts, secrets: {}, rows: toRows(kind, settings) };
}

function toTexts(kind: ConnectionKind, settings: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(KINDS[kind].settings.map(({ key }) => [key, toText(settings[key])]));
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return value.join('\n');
  if (typeof value !== 'object' || value === null) return asText(value) ?? '';
  return Object.entries(value)
    .map(([name, each]) => `${name}=${String(each)}`)
    .join('\n');
}

function toRows(kind: ConnectionKind, settings: Readonly<Record<string, unknown>>): NameAndValue[] {
  if (KINDS[kind].rows === undefined) return [];
  const names = Array.isArray(settings['names']) ? asArray(settings['names']) : [settings['name']];
  return names.map((name) => ({ name: asText(name) ?? '', value: '' }));
}

function freeName(name: string, used: readonly string[]): string {
  if (!used.includes(name)) return name;
  for (let number = 2; ; number += 1) if (!used.includes(`${name} ${number}`)) return `${name} ${number}`;
}

const PLACEHOLDER = /\{(\w+)\}/g;

/** Returns the distinct names in braces in the addresses of a service. */
export function placeholdersOf({ origins, settings }: Preset): string[] {
  const texts = [...origins, ...Object.values(settings)].filter((text) => typeof text === 'string');
  return [...new Set(texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!)))];
}

type Placeholders = Readonly<Record<string, string>>;

/**
 * Replaces the placeholders in the service's addresses by `values`. `before` are the values with which `fields` were
 * filled so far. A field that has another text was changed by the person, so it remains.
 */
export function withPlaceholders(
  fields: ConnectionFields,
  preset: Preset,
  { before, values }: { before: Placeholders; values: Placeholders },
): ConnectionFields {
  const template = newFields(preset);
  const next = (text: string, pattern = ''): string =>
    text === filled(pattern, before) ? filled(pattern, values) : text;
  const settings = Object.entries(fields.settings);
  return {
    ...fields,
    origins: next(fields.origins, template.origins),
    settings: Object.fromEntries(settings.map(([key, text]) => [key, next(text, template.settings[key])])),
  };
}

function filled(pattern: string, values: Placeholders): string {
  return pattern.replace(PLACEHOLDER, (all, name: string) => values[name]?.trim() || all);
}

/** Returns `My domain` for `my_domain`. */
export function placeholderLabel(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/\bid\b/, 'ID');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export type FieldProblems = Readonly<Record<string, string>>;

const EMPTY = toFieldWords('Field required');

/**
 * Checks the form before sending. Returns problems by field: `settings.client_id`, `rows.0.name`, `placeholders.site`.
 * Unless `isNew`, secrets may be empty, because the service has stored ones.
 */
export function problemsOf(
  { kind, name, origins, settings, secrets, rows }: ConnectionFields,
  { isNew, placeholders = {} }: { isNew: boolean; placeholders?: Readonly<Record<string, string>> },
): FieldProblems {
  const spec = KINDS[kind];
  const isServer = kind === 'mcp_oauth' && settings['server_url']?.trim() !== '';
  const wanted: [field: string, text: string | undefined][] = [
    ['name', name],
    ...(isServer ? [] : [['origins', origins] satisfies [string, string]]),
    ...required(spec.settings, 'settings', settings),
    ...(isNew ? required(spec.secrets, 'secrets', secrets) : []),
    ...rows.map((row, at): [string, string] => [`rows.${at}.name`, row.name]),
    ...(isNew ? rows.map((row, at): [string, string] => [`rows.${at}.value`, row.value]) : []),
  ];
  const empty = wanted.filter(([, text]) => (text ?? '').trim() === '').map(([field]) => [field, EMPTY]);
  const unknown = Object.entries(placeholders).flatMap(([each, value]) => {
    if (value.trim() === '') return [[`placeholders.${each}`, EMPTY]];
    return /^[\w.-]+$/.test(value.trim()) ? [] : [[`placeholders.${each}`, 'Enter only this part of the address.']];
  });
  return Object.fromEntries([...empty, ...unknown]);
}

function required(
  specs: readonly FieldSpec[],
  of: string,
  texts: Readonly<Record<string, string>>,
): [field: string, text: string | undefined][] {
  return specs.filter(({ isOptional }) => isOptional !== true).map(({ key }) => [`${of}.${key}`, texts[key]]);
}

/**
 * Returns the service's problems by field, for `ConnectionForm`. A problem that names no single setting or secret is
 * under `settings` or `secrets`.
 */
export function refusalsOf(error: unknown): FieldProblems {
  const found: Record<string, string> = {};
  const add = (field: string, sentence: string): void => {
    found[field] = found[field] === undefined ? sentence : `${found[field]} ${sentence}`;
  };
  if (!(error instanceof ServiceError)) return found;
  for (const [field, sentences] of Object.entries(error.fields ?? {})) {
    for (const sentence of sentences) {
      const [, key, at, rest] = (field === 'settings' || field === 'secrets' ? KEY_BEFORE.exec(sentence) : null) ?? [];
      if (key === undefined || rest === undefined) add(field, sentence);
      else if (at !== undefined && key === 'names') add(`rows.${at}.name`, rest);
      else if (at !== undefined && key === 'values') add(`rows.${at}.value`, rest);
      else add(`${field}.${key}`, rest);
    }
  }
  return found;
}

/**
 * Matches the service's sentences about one key of `settings` or `secrets`: `token_url: Enter a valid URL.`,
 * `names.0: Enter the name of a header.`
 */
const KEY_BEFORE = /^(\w+)(?:\.(\d+))?: (.*)$/s;

/**
 * Returns the body of the request. Empty secrets are omitted or sent as the mask, so that the service retains
 * the stored ones.
 */
export function toBody({ kind, name, origins, settings, secrets, rows }: ConnectionFields): ConnectionBody {
  const spec = KINDS[kind];
  const written = spec.settings.flatMap((each) => {
    const text = settings[each.key] ?? '';
    const isSent = text.trim() !== '' || each.isEmptySent === true;
    return isSent ? [[each.key, toValue(text, each.shape)] as const] : [];
  });
  const newSecrets = spec.secrets.flatMap(({ key }) =>
    (secrets[key] ?? '') === '' ? [] : [[key, secrets[key]] as const],
  );
  const pairs = toPairs(rows);
  return {
    name: name.trim(),
    origins: toOrigins(origins, settings['server_url']),
    settings: { ...Object.fromEntries(written), ...pairs?.settings },
    secrets: { ...Object.fromEntries(newSecrets), ...pairs?.secrets },
  };
}

/** An MCP server without origins gets the origin of its URL. */
function toOrigins(text: string, server: string | undefined): string[] {
  const origins = text.split(/[\s,]+/).filter(Boolean);
  const own = server === undefined ? undefined : server.trim();
  return origins.length === 0 && own !== undefined && URL.canParse(own) ? [new URL(own).origin] : origins;
}

function toValue(text: string, shape: FieldSpec['shape']): unknown {
  if (shape === 'words') return text.split(/\s+/).filter(Boolean);
  if (shape !== 'pairs') return text.trim();
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split('=');
      return [name.trim(), rest.join('=').trim()];
    }),
  );
}

function toPairs(rows: readonly NameAndValue[]): Pick<ConnectionBody, 'settings' | 'secrets'> | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const secretOf = ({ value }: NameAndValue): string => (value === '' ? MASK : value);
  if (rows.length === 1) return { settings: { name: first.name.trim() }, secrets: { value: secretOf(first) } };
  return { settings: { names: rows.map(({ name }) => name.trim()) }, secrets: { values: rows.map(secretOf) } };
}
