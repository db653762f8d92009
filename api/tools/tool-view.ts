// What MCP clients are told of a workflow.
import { z } from 'zod';
import type { ToolWorkflow } from '../../db/workflows/tools-repository.js';
import { toInputSchema } from '../../graph/input-schema.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { toToolName } from './tool-name.js';

/** A `Tool` of the protocol. A run may do anything, so the client learns nothing reassuring of it. */
export function toTool(workflow: ToolWorkflow): JsonObject {
  const { title } = workflow;
  const { name, description, input_schema: inputSchema } = toToolFacts(workflow);
  const annotations = { title, readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
  return { name, title, description, inputSchema, annotations };
}

export const toolFactsSchema = z.object({
  name: z.string().describe('Words of the title, and the id; it changes with the title'),
  description: z.string().describe('The short description; a sentence with the title where that is empty'),
  input_schema: z.record(z.string(), z.unknown()).describe("JSON Schema of the arguments, from the trigger's fields"),
});

export function toToolFacts(workflow: ToolWorkflow): z.infer<typeof toolFactsSchema> {
  const { title, short_description: description, fields } = workflow;
  return {
    name: toToolName(workflow),
    description: description.trim() === '' ? `Runs the workflow "${title}" and returns what it puts out.` : description,
    input_schema: toInputSchema(Array.isArray(fields) ? fields.filter(isObject) : []),
  };
}
