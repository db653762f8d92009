import type { Caller } from '../http/route.js';
import { askForConnection, listConnections } from './connection-tools.js';
import { editWorkflow, saveWorkflow } from './edit-tools.js';
import { describeNode, findNodes } from './find-tools.js';
import { readRun } from './read-run.js';
import { testWorkflow } from './test-workflow.js';
import type { Tool } from './tool.js';
import { listVariables } from './variables.js';
import { findWorkflows, getWorkflow } from './workflow-tools.js';

const TOOLS: readonly Tool[] = [
  findNodes,
  describeNode,
  findWorkflows,
  getWorkflow,
  editWorkflow,
  listVariables,
  testWorkflow,
  readRun,
  listConnections,
  askForConnection,
  saveWorkflow,
];

/** The tools that the caller's key permits, or that the assistant in the editor has. */
export function toolsOf({ scope, assistant }: Caller): readonly Tool[] {
  // In the editor the person saves, because the editor may have changes that the draft lacks.
  if (assistant !== undefined) return TOOLS.filter((tool) => tool !== saveWorkflow);
  return scope === 'read' ? TOOLS.filter(({ isReading }) => isReading) : TOOLS;
}
