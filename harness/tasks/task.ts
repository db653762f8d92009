// A task in words for an assistant, with the requirements that its result must meet (examples/tasks/README.md).
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const json = z.record(z.string(), z.unknown());

const mustSchema = z.strictObject({
  /** The minimum number of nodes of each kind. */
  kinds: z.record(z.string(), z.int().min(0)).optional(),
  /** Kinds of nodes that must not occur. */
  no_kinds: z.array(z.string()).optional(),
  /** Pairs of kinds, with a link from the first to the second. */
  links: z.array(z.tuple([z.string(), z.string()])).optional(),
  /** Ids of nodes that must still exist. */
  keeps: z.array(z.string()).optional(),
  /** The data of at least one node of the kind must match this pattern, as JSON text. */
  data: z.array(z.strictObject({ kind: z.string(), matches: z.string() })).optional(),
  saved: z.boolean().optional(),
  test: z
    .strictObject({
      input: json.default({}),
      /** The mocked outcome of all nodes of a kind, by kind. */
      mocks: z.record(z.string(), z.unknown()).default({}),
      /** The result of at least one output node must match this pattern, as JSON text. */
      output: z.string().optional(),
      status: z.enum(['succeed', 'failed']).default('succeed'),
    })
    .optional(),
  /** A pattern that the last words of the assistant must match. */
  says: z.string().optional(),
  /** Set if the assistant must not create a workflow. */
  nothing: z.literal(true).optional(),
});

/** A turn of an assistant: tool calls, or words. `$id`, `$draft`, `$project`, `$run` are values of `Builder.known`. */
const turnSchema = z.union([
  z.strictObject({ calls: z.array(z.strictObject({ tool: z.string(), arguments: json })).min(1) }),
  z.strictObject({ say: z.string() }),
]);

const taskSchema = z.strictObject({
  words: z.string().min(1),
  /** The workflow that exists before the task begins. */
  begin: z.strictObject({ title: z.string(), changes: z.array(z.unknown()) }).optional(),
  must: mustSchema,
  /** The turns of an assistant that has done the task before. */
  recorded: z.array(turnSchema).min(1),
});

export type Must = z.infer<typeof mustSchema>;

export interface Task extends z.infer<typeof taskSchema> {
  name: string;
}

const TASKS = path.resolve(import.meta.dirname, '../../examples/tasks');

/** Throws for a file that is no task. */
export function readTasks(folder = TASKS): Task[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.toSorted().map((file) => {
    const parsed = taskSchema.parse(JSON.parse(readFileSync(path.join(folder, file), 'utf8')));
    return { name: path.basename(file, '.json'), ...parsed };
  });
}
