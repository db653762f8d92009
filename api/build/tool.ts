// A tool of assistants: its description for the model, and its work, which it does through the routes of the service.
import { z } from 'zod';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import type { InnerCalls } from '../dispatch/inner-call.js';
import { ApiError, quotaExceeded } from '../http/errors.js';
import type { Caller } from '../http/route.js';
import type { BuildDeps } from './deps.js';

export interface ToolContext {
  calls: Pick<InnerCalls<BuildDeps>, 'admit' | 'call' | 'end' | 'json' | 'read'>;
  deps: BuildDeps;
  caller: Caller;
  signal: AbortSignal;
  /** Identifies the call in the assistant's run, so that a repeat starts no second test. Ignored for other clients. */
  callName?: string;
}

export interface Tool {
  name: string;
  /** The tool's entry in the answer to `tools/list`. */
  listed: JsonObject;
  /** True if the tool changes nothing. Keys of the scope `read` have only these. */
  isReading: boolean;
  /** Throws `ToolError`, and the `ApiError` of a route that refuses the request. */
  run(context: ToolContext, sent: JsonObject): Promise<JsonObject>;
}

/** Explains to the model why the call has failed, and how to correct it. */
export class ToolError extends Error {
  override name = 'ToolError';
}

/** Returns the text of a refusal for the model. Throws an error that is no refusal. */
export function toSentence(error: unknown): string {
  if (error instanceof ToolError) return error.message;
  const known = isQuotaExceeded(error) ? quotaExceeded() : error;
  // An error that is no refusal is answered as for every other request.
  if (!(known instanceof ApiError) || known.status >= 500) throw error;
  const fields = known.fields === undefined ? known.message : JSON.stringify(known.fields);
  const body: unknown = known.toBody();
  const errors =
    isObject(body) && Array.isArray(body['errors']) ? ` ${JSON.stringify(body['errors'].slice(0, 20))}` : '';
  return `${known.status} ${known.code}: ${fields}${errors}`;
}

interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  isReading: boolean;
  /** True if the tool may call servers outside of the service. */
  isOpenWorld?: boolean;
  input: Input;
  output: Output;
  run(context: ToolContext, input: z.infer<Input>): Promise<z.input<Output>>;
}

const MOST_PROBLEMS = 5;

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(spec: ToolSpec<Input, Output>): Tool {
  const { name, title, description, isReading, isOpenWorld = false, input, output } = spec;
  const annotations = {
    title,
    readOnlyHint: isReading,
    destructiveHint: false,
    idempotentHint: isReading,
    openWorldHint: isOpenWorld,
  };
  return {
    name,
    isReading,
    listed: {
      name,
      title,
      description,
      inputSchema: toSchema(input, 'input'),
      outputSchema: toSchema(output, 'output'),
      annotations,
    },
    async run(context, sent) {
      const parsed = input.safeParse(sent);
      if (parsed.success) return spec.run(context, parsed.data);
      const problems = parsed.error.issues
        .slice(0, MOST_PROBLEMS)
        .map(({ path, message }) => `${path.join('.')}: ${message}`);
      throw new ToolError(`The arguments are wrong. ${problems.join('; ')}`);
    },
  };
}

/** Clients validate with JSON Schema draft 7 by default. */
function toSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonObject {
  return z.toJSONSchema(schema, { target: 'draft-7', io });
}

export const idSchema = z.int().min(0).max(2_147_483_647);
export const nodeIdSchema = z.string().min(1).max(200);
export const textUpTo = (most: number) => z.string().max(most);
