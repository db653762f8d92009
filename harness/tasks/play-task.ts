// Plays one task in a project of its own, and judges it.
import { createApiClient } from '../client/api-client.js';
import { connectBuilder, type Builder } from './builder.js';
import { judge } from './judge.js';
import type { Played } from './play.js';
import type { Task } from './task.js';

export interface Place {
  url: string;
  /** The key of the user for whom the assistant works. */
  apiKey: string;
}

export interface Outcome extends Played {
  /** A sentence for each requirement that is not met; empty if the task is done. */
  wrong: string[];
  calls: number;
}

export async function playTask(
  { url, apiKey }: Place,
  task: Task,
  play: (builder: Builder, project: number) => Promise<Played>,
): Promise<Outcome> {
  const project = await createApiClient(url, apiKey).createProject();
  const builder = await connectBuilder(url, apiKey);
  const jury = await connectBuilder(url, apiKey);
  try {
    if (task.begin !== undefined) await begin(jury, project, task.begin);
    builder.known['project'] = project;
    if (jury.known['id'] !== undefined) builder.known['id'] = jury.known['id'];
    const played = await play(builder, project);
    const { items } = await jury.read<{ items: { id: number }[] }>('find_workflows', { project });
    const wrong = await judge(jury, task.must, { id: items[0]?.id, said: played.said });
    return { ...played, wrong, calls: builder.calls };
  } finally {
    await builder.close();
    await jury.close();
  }
}

async function begin(builder: Builder, project: number, { title, changes }: NonNullable<Task['begin']>): Promise<void> {
  const { id, draft } = await builder.read<{ id: number; draft: string }>('edit_workflow', { project, title, changes });
  const saved = await builder.use('save_workflow', { id, base: draft });
  // A broken workflow cannot be saved; it stays a draft.
  if (saved.isError && !saved.text.includes('check has errors')) throw new Error(saved.text);
}
