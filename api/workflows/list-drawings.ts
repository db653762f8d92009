// Reads pages of workflows with their drawings.
import { measureDrawings } from '../../db/workflows/workflows-repository.js';
import type { WorkflowDeps } from './deps.js';
import { lazyList, type LazyJson } from '../http/json-text.js';
import { TEXT_COPIES } from '../../memory/json-copies.js';

/** The limit on the drawings of a page. It is divided evenly; a drawing above its share is left out. */
const LISTED_BYTES = 64 * 1024 * 1024;
/** A page with more bytes of drawings is read workflow by workflow, while it is sent. */
const TOGETHER_BYTES = 512 * 1024;

/** `read` returns the items of the workflows that still exist, without drawings of more than `limitBytes`. */
export async function listDrawings(
  { db }: WorkflowDeps,
  ids: number[],
  read: (ids: number[], limitBytes: number) => Promise<unknown[]>,
): Promise<unknown[] | LazyJson> {
  const limitBytes = Math.floor(LISTED_BYTES / Math.max(1, ids.length));
  const sizes = await measureDrawings(db, ids);
  const shownBytes = (id: number): number => {
    const bytes = sizes.get(id) ?? 0;
    return bytes > limitBytes ? 0 : bytes;
  };
  const sumBytes = ids.reduce((sum, id) => sum + shownBytes(id), 0);
  if (sumBytes <= TOGETHER_BYTES) return read(ids, limitBytes);
  return lazyList(async function* (memory) {
    for (const id of ids) {
      const bytes = TEXT_COPIES * shownBytes(id);
      await memory.take(bytes);
      yield* await read([id], limitBytes);
      memory.give(bytes);
    }
  });
}
