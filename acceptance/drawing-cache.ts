// Caches drawings that run repeatedly, together with the data that acceptance derives from them. `find` then reads a
// drawing from the database only if it has changed. Rights, limits, connections and files are checked at every start.
import { LRUCache } from 'lru-cache';
import type { Database } from '../db/core/client.js';
import { hashDrawing } from '../db/runs/snapshots-repository.js';
import { findDrawingUnless, type StoredDrawing } from '../db/workflows/workflows-repository.js';
import type { JsonObject } from '../graph/json.js';
import { deriveDrawing, type DerivedDrawing } from './derived-drawing.js';

interface CachedDrawing {
  /** Identifies the state of the workflow's row (`findDrawingUnless`). */
  mark: string;
  document: JsonObject;
  derived: DerivedDrawing;
  /** The key under which runs store the drawing (db/runs/snapshots-repository.ts). */
  snapshotHash: Buffer;
  bytes: number;
}

/** The drawing of a run that is about to start. */
export type DrawingToRun = StoredDrawing & {
  /** Present if the drawing is cached. */
  cached?: Pick<CachedDrawing, 'derived' | 'snapshotHash'>;
};

export interface DrawingCache {
  /** Returns the current drawing, like `findDrawing`. Callers must not change the returned document. */
  find(workflowId: number): Promise<DrawingToRun | undefined>;
}

/** Bytes of memory per byte of a drawing's text. Drawings of small objects take four times as much as usual ones. */
const MEMORY_PER_BYTE = 12;

/** The share of the cache's memory that a single drawing may use. */
const LARGEST_SHARE = 1 / 8;

/**
 * Does not cache drawings with secrets (the derived data contains the secrets), drawings with errors (they do not run),
 * and drawings beyond `LARGEST_SHARE`.
 */
export function createDrawingCache(db: Database, maxBytes: number): DrawingCache {
  const all = new LRUCache<number, CachedDrawing>({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes });
  return {
    async find(workflowId) {
      const known = all.get(workflowId);
      const found = await findDrawingUnless(db, workflowId, known?.mark ?? null);
      if (found === undefined) {
        all.delete(workflowId);
        return undefined;
      }
      const { mark, isKnown, document, ...row } = found;
      if (isKnown && known !== undefined) return { ...row, document: known.document, cached: known };
      const drawing = { ...row, document: document! };
      const cached = toCached(drawing, mark, maxBytes * LARGEST_SHARE);
      if (cached === undefined) {
        all.delete(workflowId);
        return drawing;
      }
      all.set(workflowId, cached);
      return { ...drawing, cached };
    },
  };
}

function toCached(
  { document, secrets_enc: secretsEnc }: StoredDrawing,
  mark: string,
  maxBytes: number,
): CachedDrawing | undefined {
  if (secretsEnc !== null) return undefined;
  const text = JSON.stringify(document);
  const bytes = MEMORY_PER_BYTE * Buffer.byteLength(text);
  if (bytes > maxBytes) return undefined;
  const derivation = deriveDrawing(document, {});
  if (!derivation.ok || Object.keys(derivation.derived.nodeErrors).length > 0) return undefined;
  const { derived } = derivation;
  freeze(document);
  freeze(derived);
  return { mark, document, derived, snapshotHash: hashDrawing(text), bytes };
}

/** Freezes a value and all nested values, because other starts share it. */
function freeze(value: object): void {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const part of Object.values(next)) waiting.push(part);
  }
}
