// A task in words for an assistant, with what must hold of the result (examples/tasks/README.md).
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const json = z.record(z.string(), z.unknown());

const mustSchema = z.strictObject({
  /** How many nodes of each kind there are at least. */
  kinds: z.record(z.string(), z.int().min(0)).optional(),
  /** Kinds of which there is none. */
  no_kinds: z.array(z.string()).optional(),
  /** Pairs of kinds, with a link from the first to the second. */
  links: z.array(z.tuple([z.string(), z.string()])).optional(),
  /** Ids of nodes that are still there. */
  keeps: z.array(z.string()).optional(),
  /** What the data of some node of the kind contains, as JSON text. */
  data: z.array(z.strictObject({ kind: z.string(), matches: z.string() })).optional(),
  saved: z.boolean().optional(),
  test: z
    .strictObject({
      input: json.default({}),
      /** By kind: what its nodes give in place of being executed. */
      mocks: z.record(z.string(), z.unknown()).default({}),
      /** What some output node gives, as JSON text. */
      output: z.string().optional(),
      status: z.enum(['succeed', 'failed']).default('succeed'),
    })
    .optional(),
  /** The last words of the assistant. */
  says: z.string().optional(),
  /** True where no workflow is to be made. */
  nothing: z.literal(true).optional(),
});

/** What an assistant does: calls of tools, or words. `$id`, `$draft`, `$project`, `$run` stand for what it was told. */
const turnSchema = z.union([
  z.strictObject({ calls: z.array(z.strictObject({ tool: z.string(), arguments: json })).min(1) }),
  z.strictObject({ say: z.string() }),
]);

const taskSchema = z.strictObject({
  words: z.string().min(1),
  /** The workflow that is there before. */
  begin: z.strictObject({ title: z.string(), changes: z.array(z.unknown()) }).optional(),
  must: mustSchema,
  /** What an assistant once did. */
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
