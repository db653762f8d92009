import { Client, Connection } from '@temporalio/client';
import { serve } from './serve.js';
import { openStore } from './store.js';

const [address = '', namespace = '', taskQueue = '', databaseUrl = ''] = process.argv.slice(2);
serve({
  client: new Client({ connection: await Connection.connect({ address }), namespace }),
  taskQueue,
  isEager: false,
  store: await openStore(databaseUrl),
});
process.once('disconnect', () => process.exit());
