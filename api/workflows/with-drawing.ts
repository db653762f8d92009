import type { Db } from '../../db/core/client.js';
import { measureVersion } from '../../db/workflows/versions-repository.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { PARSED_COPIES, TEXT_COPIES } from '../../memory/json-copies.js';
import type { Asker, HeavyWork } from '../http/heavy-work.js';

/**
 * Does work that reads the drawing of a workflow, for handlers whose path does not name it. Like `readsDrawing` of a
 * route, it leases memory for the drawing, and waits in the fair queue of api/http/heavy-work.ts if the drawing or
 * the body is large. The memory stays leased. The work must not wait for others: the turn is that of all tenants.
 */
export async function withDrawing<T>(
  { db, heavyWork }: { db: Db; heavyWork: HeavyWork },
  { memory, ...asker }: Asker & { memory: ByteLease },
  { workflowId, form, bodyBytes = 0 }: { workflowId: number; form: 'text' | 'parsed'; bodyBytes?: number },
  work: (drawingBytes: number) => Promise<T>,
): Promise<T> {
  const drawingBytes = await measureVersion(db, workflowId, undefined);
  await memory.resize(memory.bytes + (form === 'text' ? TEXT_COPIES : PARSED_COPIES) * drawingBytes);
  return heavyWork.run(asker, bodyBytes + drawingBytes, () => work(drawingBytes));
}
