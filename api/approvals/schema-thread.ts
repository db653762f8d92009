// What runs in the thread of `check-arguments.ts`: one check of one value.
import { parentPort, workerData } from 'node:worker_threads';
import { compileSchema, schemaProblem } from '../../graph/json-schema.js';
import { parseJson } from '../../graph/json-text.js';
import type { SchemaQuestion, SchemaVerdict } from './check-arguments.js';

function judge({ schema, value }: SchemaQuestion): SchemaVerdict {
  const parsed = parseJson(schema);
  if (schemaProblem(parsed) !== undefined) return { isUsable: false };
  try {
    return { isUsable: true, problem: compileSchema(parsed as object)(parseJson(value)) };
  } catch {
    return { isUsable: false };
  }
}

// A thread's port has no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(judge(workerData as SchemaQuestion));
