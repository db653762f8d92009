// Reads what a loop gave to the nodes of an iteration (the index, and the item or the last output), for people who
// inspect the run and for tests of nodes.
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Db } from '../../db/core/client.js';
import { findItem, findIteration } from '../../db/nodes/iterations-repository.js';
import { openResult } from '../../db/nodes/open-result.js';
import { indexOfPath } from '../../graph/iteration-path.js';
import { parseJson } from '../../graph/json-text.js';
import type { NodeKey } from '../../graph/plan.js';
import type { NodeOutput } from '../../graph/template.js';
import type { LoopVariables } from '../../graph/variable.js';

/** A larger value is replaced by a text that states its size. */
const MAX_SEALED_BYTES = 1024 * 1024;

export async function readLoopValues(
  db: Db,
  secretBox: SecretBox,
  loop: NodeKey,
  iteration: string,
): Promise<LoopVariables> {
  return (await findLoopValues(db, secretBox, loop, iteration))();
}

/** Reads the stored values. The returned function opens them, and throws if one cannot be opened. */
export async function findLoopValues(
  db: Db,
  secretBox: SecretBox,
  loop: NodeKey,
  iteration: string,
): Promise<() => LoopVariables> {
  const index = indexOfPath(iteration);
  const item = await findItem(db, loop, index);
  if (item !== undefined) {
    const { itemEnc } = item;
    const open = () => secretBox.open(itemEnc, 'loop-item', loop.runId, loop.path, loop.nodeId, index);
    return () => ({ index, item: textInPlaceOf(itemEnc) ?? parseJson(open()) });
  }
  const before = index === 0 ? undefined : await findIteration(db, loop, index - 1);
  if (before === undefined) return () => ({ index });
  const { result, resultEnc } = before;
  const hidden = textInPlaceOf(resultEnc ?? Buffer.from(result ?? ''));
  if (hidden !== undefined) return () => ({ index, last: hidden });
  return () => {
    const text = openResult(before, { ...loop, path: before.path }, secretBox);
    return { index, last: text === null ? null : (parseJson(text) as NodeOutput)['value'] };
  };
}

function textInPlaceOf(bytes: Buffer): string | undefined {
  return bytes.length > MAX_SEALED_BYTES ? `[not shown: a value of ${bytes.length} bytes]` : undefined;
}
