export { runGraph } from './run-graph.js';
export { scheduledRun } from './scheduled-run.js';
