// Values that a function can be called with, made from the types of its parameters.
import { sql } from 'kysely';
import { SignatureKind, TypeFlags, type Checker, type Type } from 'typescript/unstable/sync';
import type { Database } from '../../../db/core/client.js';
import { SEALED_COLUMNS } from '../../../db/rotation/sealed-columns.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { createRefreshToken } from '../../../db/sessions/refresh-token.js';
import { symbolOf } from './statement-sites.js';

/** Some texts are parsed as JSON: as a result, or as a plan. Some are parsed as refresh tokens. */
const JSON_TEXT = JSON.stringify({ content: 'x', value: 'x', ids: [], kinds: [], labels: [] });
const TEXTS = [JSON_TEXT, createRefreshToken().token];
const NUMBERS = [1, 0, 100];
const DEEPEST = 6;

/** Opens any bytes, without a key. */
const openBox = { keyId: '00000000', seal: () => Buffer.from('x'), open: () => '[]' } as unknown as SecretBox;

export interface Sampler {
  sample: (type: Type) => unknown;
}

/** `choose` returns the index of one of `count` possibilities. */
export function createSampler(checker: Checker, db: Database, choose: (count: number) => number): Sampler {
  const objects: Record<string, () => unknown> = {
    Kysely: () => db,
    Transaction: () => db,
    Buffer: () => Buffer.from('x'),
    Date: () => new Date(0),
    AbortSignal: () => new AbortController().signal,
    RawBuilder: () => sql`NULL`,
    SecretBox: () => openBox,
    SealedColumn: () => SEALED_COLUMNS[choose(SEALED_COLUMNS.length)],
  };

  function sample(type: Type, depth = 0): unknown {
    if (type.isUnionType()) {
      const types = type.getTypes();
      return sample(types[choose(types.length)]!, depth);
    }
    if (type.isLiteralType()) return (type as unknown as { value: unknown }).value;
    if ((type.flags & TypeFlags.StringLike) !== 0) return TEXTS[choose(TEXTS.length)];
    if ((type.flags & TypeFlags.NumberLike) !== 0) return NUMBERS[choose(NUMBERS.length)];
    if ((type.flags & TypeFlags.BooleanLike) !== 0) return choose(2) === 1;
    if ((type.flags & TypeFlags.Null) !== 0) return null;
    if ((type.flags & (TypeFlags.Undefined | TypeFlags.Void)) !== 0) return undefined;
    const make = objects[symbolOf(type)];
    if (make !== undefined) return make();
    if (checker.isArrayLikeType(type)) return sampleList(type, depth);
    if (symbolOf(type).endsWith('Map')) return sampleMap(type, depth);
    if (symbolOf(type).endsWith('Set')) return new Set();
    const [signature] = checker.getSignaturesOfType(type, SignatureKind.Call);
    if (signature !== undefined) return () => sample(checker.getReturnTypeOfSignature(signature)!, depth + 1);
    if (symbolOf(type) === 'Promise')
      return Promise.resolve(sample(checker.getTypeArguments(type as never)[0]!, depth + 1));
    return depth > DEEPEST ? {} : sampleObject(type, depth);
  }

  function sampleList(type: Type, depth: number): unknown[] {
    const elements = checker.getTypeArguments(type as never);
    if (checker.isTupleType(type)) return elements.map((element) => sample(element, depth + 1));
    return choose(4) === 0 ? [] : elements.slice(0, 1).map((element) => sample(element, depth + 1));
  }

  function sampleMap(type: Type, depth: number): Map<unknown, unknown> {
    const entry = checker.getTypeArguments(type as never).map((element) => sample(element, depth + 1));
    return entry.length === 2 && choose(2) === 1 ? new Map([entry as [unknown, unknown]]) : new Map();
  }

  function sampleObject(type: Type, depth: number): Record<string, unknown> {
    const members = checker.getPropertiesOfType(type).map((member): [string, unknown] => {
      return [member.name, sample(checker.getTypeOfSymbol(member)!, depth + 1)];
    });
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  return { sample: (type) => sample(type) };
}
