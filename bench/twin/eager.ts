// The faster twin. Gateway and worker are one process with one connection, so the answer to a start contains the first
// workflow task.
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { call } from './activities.js';
import { serve } from './serve.js';

const [address = '', namespace = '', taskQueue = ''] = process.argv.slice(2);
const connection = await NativeConnection.connect({ address });
const workflowsPath = fileURLToPath(new URL('./workflows.js', import.meta.url));
const worker = await Worker.create({ connection, namespace, taskQueue, activities: { call }, workflowsPath });
process.once('disconnect', () => process.exit());
const ended = worker.run();
serve({ client: new Client({ connection, namespace }), taskQueue, isEager: true });
await ended;
