// The twin's worker: its own process and task queue, and the SDK's defaults, which the service's worker has too.
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import * as activities from './activities.js';

const [address = '', namespace = '', taskQueue = ''] = process.argv.slice(2);
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue,
  activities,
  workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
});
// Without its parent it has nothing to do; SIGTERM drains it.
process.once('disconnect', () => process.exit());
const ended = worker.run();
process.send?.({});
await ended;
await connection.close();
process.disconnect?.();
