// The twin's worker. It has its own process and task queue, and the SDK's defaults, like the service's worker.
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createActivities } from './activities.js';
import { openStore } from './store.js';

const [address = '', namespace = '', taskQueue = '', databaseUrl = ''] = process.argv.slice(2);
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue,
  activities: createActivities(await openStore(databaseUrl)),
  workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
});
// Exits with its parent. SIGTERM drains the worker.
process.once('disconnect', () => process.exit());
const ended = worker.run();
process.send?.({});
await ended;
await connection.close();
process.disconnect?.();
