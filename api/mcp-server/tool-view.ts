// Shows a workflow as a tool to MCP clients.
import { z } from 'zod';
import type { ToolWorkflow } from '../../db/mcp-server/tools-repository.js';
import { toInputSchema } from '../../graph/input-schema.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { MAX_ID } from '../http/path-ids.js';

/** A `Tool` of the protocol. A run may do anything, so the annotations claim nothing reassuring. */
export function toTool(workflow: ToolWorkflow, { hasTasks }: { hasTasks: boolean }): JsonObject {
  const { title } = workflow;
  const { name, description, input_schema: inputSchema } = toToolFacts(workflow);
  const annotations = { title, readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
  const execution = hasTasks ? { execution: { taskSupport: 'optional' } } : {};
  return { name, title, description, inputSchema, annotations, ...execution };
}

export const toolFactsSchema = z.object({
  name: z.string().describe('Words of the title, and the id. The name changes with the title'),
  description: z.string().describe('The short description; if that description is empty, a sentence with the title'),
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

// The name of a workflow as a tool: words of its title and its id. An id always belongs to the same workflow, so a
// client with a name from an earlier list never calls another workflow.

const MAX_CHARACTERS = 64;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const ID = /(?:^|_)([1-9]\d{0,9})$/;
const MARKS = /\p{M}/gu;

export function toToolName({ id, title }: { id: number; title: string }): string {
  const suffix = `_${id}`;
  const words = title
    .normalize('NFKD')
    .replaceAll(MARKS, '')
    .split(/[^A-Za-z0-9-]+/)
    .filter((word) => /[A-Za-z0-9]/.test(word))
    .join('_')
    .slice(0, MAX_CHARACTERS - suffix.length)
    .replace(/[_-]+$/, '');
  return `${words === '' ? 'workflow' : words}${suffix}`;
}

/** Returns the id at the end of a tool's name; undefined if the text cannot be the name of a workflow as a tool. */
export function idInToolName(name: string): number | undefined {
  const id = NAME.test(name) ? Number(ID.exec(name)?.[1]) : Number.NaN;
  return Number.isInteger(id) && id <= MAX_ID ? id : undefined;
}
