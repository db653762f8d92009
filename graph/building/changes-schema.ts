// The changes that an assistant makes to a drawing, and the errors of changes that cannot be made.
import { z } from 'zod';
import { anyObject } from '../any-object.js';
import { cutText } from '../cut-text.js';
import { isObject, ownValue, type JsonObject } from '../json.js';

const NODE_ID = /^[A-Za-z0-9_-]{1,64}$/;

const nodeId = z.string().min(1).max(200);
const exit = z.string().min(1).max(200);
const link = z.strictObject({ from: nodeId, exit: exit.optional().describe('Default `next`'), to: nodeId });

const parts = {
  add: z.strictObject({
    id: z.string().regex(NODE_ID, { error: 'an id has 1 to 64 letters, digits, _ and -' }),
    kind: z.string().optional(),
    action: z.strictObject({ service: z.string(), id: z.string() }).optional(),
    label: z.string().max(255).optional(),
    data: anyObject.optional(),
    after: z.union([nodeId, z.strictObject({ node: nodeId, exit })]).optional(),
  }),
  set: z.strictObject({
    node: nodeId,
    path: z.string().max(2_000).describe('JSON Pointer into `data`'),
    value: z.unknown(),
  }),
  link,
  unlink: link,
  remove: nodeId,
  rename: z.strictObject({ node: nodeId, label: z.string().min(1).max(255) }),
  fields: z.array(anyObject).max(200),
};

type Parts = { [Name in keyof typeof parts]: z.infer<(typeof parts)[Name]> };

/** One change: an object with exactly one key. */
export type Change = { [Name in keyof Parts]: Record<Name, Parts[Name]> }[keyof Parts];

export const MOST_CHANGES = 200;

/**
 * Describes the list for clients. `readChanges` validates the list instead, because its errors name the change and the
 * mistake.
 */
export const changesSchema = z
  .array(
    z.union([
      z.strictObject({ add: parts.add }),
      z.strictObject({ set: parts.set }),
      z.strictObject({ link: parts.link }),
      z.strictObject({ unlink: parts.unlink }),
      z.strictObject({ remove: parts.remove }),
      z.strictObject({ rename: parts.rename }),
      z.strictObject({ fields: parts.fields }),
    ]),
  )
  .min(1)
  .max(MOST_CHANGES);

/** A change that cannot be made. `index` counts from 0. */
export class ChangeError extends Error {
  override name = 'ChangeError';
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/** Returns the changes of an untrusted list. Throws `ChangeError` for the first one that has another shape. */
export function readChanges(sent: readonly unknown[]): Change[] {
  return sent.map(readChange);
}

const NAMES = Object.keys(parts) as (keyof Parts)[];

function readChange(sent: unknown, index: number): Change {
  const keys = isObject(sent) ? Object.keys(sent) : [];
  const name = NAMES.find((known) => known === keys[0]);
  if (!isObject(sent) || keys.length !== 1 || name === undefined) {
    throw new ChangeError(index, `A change is an object with one key: ${NAMES.join(', ')}.`);
  }
  if (name === 'set' && isObject(sent[name]) && ownValue(sent[name], 'value') === undefined) {
    throw new ChangeError(index, 'set.value is missing. null is a value.');
  }
  const parsed = parts[name].safeParse(sent[name]);
  if (parsed.success) return { [name]: keepKeys(parsed.data, sent[name]) } as Change;
  const [{ path, message } = { path: [], message: 'is wrong' }] = parsed.error.issues;
  throw new ChangeError(index, `${cutText([name, ...path.map(String)].join('.'), 200)}: ${cutText(message, 300)}`);
}

/** Takes records and `value` as they were sent, because zod drops the key `__proto__` when it copies records. */
function keepKeys(parsed: unknown, sent: unknown): unknown {
  if (!isObject(parsed) || !isObject(sent)) return Array.isArray(parsed) ? sent : parsed;
  const kept: JsonObject = { ...parsed };
  for (const key of ['data', 'value']) if (Object.hasOwn(sent, key)) kept[key] = sent[key];
  return kept;
}
