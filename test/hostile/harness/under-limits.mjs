// Loaded into the supervisor of the stack before everything else. The API and the worker, which the supervisor starts
// with `process.execPath`, are therefore started by limited-node.sh under its limits. Their child processes are not.
import path from 'node:path';

delete process.env.NODE_OPTIONS;
process.env.HOSTILE_NODE = process.execPath;
process.execPath = path.join(import.meta.dirname, 'limited-node.sh');
