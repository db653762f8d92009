// Loaded into the supervisor of the stack before everything else: what it starts with Node.js, the API and the worker, starts
// under the limits of limited-node.sh. Their own child processes do not.
import path from 'node:path';

delete process.env.NODE_OPTIONS;
process.env.HOSTILE_NODE = process.execPath;
process.execPath = path.join(import.meta.dirname, 'limited-node.sh');
