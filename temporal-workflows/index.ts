export { runGraph } from './run-graph.js';
