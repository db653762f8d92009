// Turns a valid request into a mutated one, in steps that can be left out one by one.
import type { Person, World, Worlds } from '../role-matrix-world.js';
import { HOSTILE_HEADERS, HOSTILE_PATH_PARTS, HOSTILE_STRINGS } from './hostile.js';
import { mutateBytes, mutateJson, toText } from './mutate-json.js';
import { createRandom, type Random } from './random.js';
import type { Seed } from './seeds.js';

export interface FuzzRequest {
  method: string;
  /** Path and query, encoded. */
  target: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** A request that is parsed as far as the steps need it. */
interface Draft {
  method: string;
  parts: string[];
  query: string[];
  headers: Record<string, string>;
  json: unknown;
  /** Replaces `json` once bytes have been changed. */
  bytes?: Buffer;
}

type Step = (draft: Draft) => void;

export interface Mutation {
  valid: Draft;
  steps: Step[];
}

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
const PEOPLE: readonly (Person | 'nobody')[] = [
  'owner',
  'owner',
  'owner',
  'owner',
  'admin',
  'editor',
  'viewer',
  'stranger',
  'administrator',
  'nobody',
];

/** Chooses one to four steps. */
export function createMutation(
  seed: Seed,
  world: World,
  credentials: Worlds['credentials'],
  internalToken: string,
  random: Random,
): Mutation {
  const [method = 'GET', path = '/'] = seed.route.split(' ');
  const ids = idsOf(seed, path, world);
  const valid: Draft = {
    method,
    parts: path.split('/').map((part) => (part.startsWith(':') ? ids[part.slice(1)]! : part)),
    query: seed.query?.(world).split('&') ?? [],
    headers: { ...seed.headers, ...credentialOf(seed, credentials, internalToken, random) },
    json: seed.body?.(world),
  };
  const count = random.pick([1, 1, 1, 2, 2, 3, 4]);
  // Each step has its own random seed, so that it makes the same change if other steps are left out.
  const steps = Array.from({ length: count }, () => {
    const own = random.below(2 ** 31);
    return (draft: Draft) => mutate(draft, createRandom(own));
  });
  return { valid, steps };
}

export function buildRequest({ valid, steps }: Mutation): FuzzRequest {
  const draft = structuredClone(valid);
  for (const step of steps) step(draft);
  const body = bodyOf(draft);
  const headers = { ...(body && { 'content-type': 'application/json' }), ...draft.headers };
  const query = draft.query.length === 0 ? '' : `?${draft.query.join('&')}`;
  return { method: draft.method, target: `${draft.parts.join('/')}${query}`, headers, body };
}

function mutate(draft: Draft, random: Random): void {
  const chance = random.below(100);
  if (chance < 4) draft.method = random.pick(METHODS);
  else if (chance < 16) draft.parts[random.below(draft.parts.length - 1) + 1] = random.pick(HOSTILE_PATH_PARTS);
  else if (chance < 32) mutateQuery(draft, random);
  else if (chance < 46) {
    const [name, value] = random.pick(HOSTILE_HEADERS);
    draft.headers[name] = value;
  } else if (draft.bytes !== undefined || chance < 62)
    draft.bytes = mutateBytes(bodyOf(draft) ?? Buffer.alloc(0), random);
  else draft.json = mutateJson(draft.json ?? {}, random);
}

function mutateQuery({ query }: Draft, random: Random): void {
  const names = ['page', 'size', 'page_size', 'id', 'ordering', 'project', 'search', '__proto__', 'categories'];
  const raw = random.pick(HOSTILE_STRINGS).slice(0, 2000);
  // A lone surrogate cannot be encoded.
  const value = random.chance(0.2)
    ? random.pick(['%zz', '%00', '%ED%A0%80', ''])
    : encodeURIComponent(raw.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
  const name = random.chance(0.6) && query.length > 0 ? random.pick(query).split('=')[0]! : random.pick(names);
  if (random.chance(0.2) && query.length > 0) query.splice(random.below(query.length), 1);
  else query.push(`${name}=${value}`);
}

function bodyOf({ bytes, json }: Draft): Buffer | undefined {
  if (bytes !== undefined) return bytes;
  return json === undefined ? undefined : Buffer.from(toText(json));
}

function credentialOf(
  { keyIn, for: least, sessionOnly }: Seed,
  credentials: Worlds['credentials'],
  internalToken: string,
  random: Random,
): Record<string, string> {
  if (least === 'internal' || random.chance(0.01)) return { authorization: `Bearer ${internalToken}` };
  const who = least === 'administrator' && random.chance(0.8) ? 'administrator' : random.pick(PEOPLE);
  if (who === 'nobody') return {};
  const { key, session } = credentials[who];
  if (keyIn !== undefined) return { authorization: `Bearer ${key}` };
  return random.chance(sessionOnly ? 0.9 : 0.25) ? { authorization: `Bearer ${session}` } : { 'x-api-key': key };
}

function idsOf({ params }: Seed, path: string, world: World): Record<string, string> {
  return {
    id: String(path.startsWith('/api/v1/projects/') ? world.project : world.workflow),
    run_id: world.run,
    workflow_run_id: world.run,
    request_id: 'unknown',
    slug: world.slug,
    file: 'page.css',
    ...params?.(world),
  };
}

/** Returns the request as a shell command. */
export function toCurl(apiUrl: string, { method, target, headers, body }: FuzzRequest): string {
  const given = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  const data = body === undefined ? [] : ['--data-binary @-'];
  const line = ['curl -i --path-as-is -X', method, ...given, ...data, quote(`${apiUrl}${target}`)].join(' ');
  return body === undefined ? line : `base64 -d <<< ${body.toString('base64')} | ${line}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
