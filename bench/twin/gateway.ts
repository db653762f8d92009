import { Client, Connection } from '@temporalio/client';
import { serve } from './serve.js';

const [address = '', namespace = '', taskQueue = ''] = process.argv.slice(2);
serve({
  client: new Client({ connection: await Connection.connect({ address }), namespace }),
  taskQueue,
  isEager: false,
});
process.once('disconnect', () => process.exit());
