import type { Db } from '../../db/core/client.js';
import { measureVersion } from '../../db/workflows/versions-repository.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { COPIES } from '../../memory/json-copies.js';
import type { Asker, HeavyWork } from '../http/heavy-work.js';

/**
 * Does work that reads the drawing of a workflow, for handlers that cannot declare `readsDrawing`: their path does not
 * name the workflow, or they read the drawing only after a wait. Leases memory for the drawing, which stays leased, and
 * waits in the queue of api/http/heavy-work.ts if drawing and body together are large. `work` must not wait for other
 * systems, because no other large work of any tenant begins before it ends.
 */
export async function withDrawing<T>(
  { db, heavyWork }: { db: Db; heavyWork: HeavyWork },
  { memory, ...asker }: Asker & { memory: ByteLease },
  { workflowId, form, bodyBytes = 0 }: { workflowId: number; form: keyof typeof COPIES; bodyBytes?: number },
  work: (drawingBytes: number) => Promise<T>,
): Promise<T> {
  const drawingBytes = await measureVersion(db, workflowId, undefined);
  await memory.resize(memory.bytes + COPIES[form] * drawingBytes);
  return heavyWork.run(asker, bodyBytes + drawingBytes, () => work(drawingBytes));
}
