// Runs for the tests of the run page.
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { createAccount, type Account } from '../api/accounts.js';
import { agent, drawing, fanOut, http, linkInRow, llm, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import type { HttpTarget } from '../../harness/target/http-target.js';
import type { TestStack } from '../../harness/stack/stack.js';

export interface RunWorld {
  owner: Account;
  /** Saves the drawing, starts a run of it and returns both ids. */
  start: (data: Drawing, input?: unknown, title?: string) => Promise<Started>;
}

export interface Started {
  workflowId: number;
  runId: string;
}

export async function createRunWorld(stack: TestStack): Promise<RunWorld> {
  const owner = await createAccount(stack);
  const project = await owner.api.createProject('Runs');
  return {
    owner,
    async start(data, input = {}, title = 'A workflow') {
      const workflowId = await owner.api.createWorkflow(project, data, title);
      const { status, data: run } = await owner.api.run(workflowId, input);
      if (status !== 201) throw new Error(`the run was not accepted: ${status}`);
      return { workflowId, runId: run.id };
    },
  };
}

/** A drawing of Start, `Call`, which requests `path`, and `Answer` in a row. */
export function callAndAnswer(target: HttpTarget, path: string): Drawing {
  const called = http(`${target.url}${path}`, { label: 'Call' });
  return drawing(linkInRow([trigger([], { label: 'Start' }), called, llm('Hello', { label: 'Answer' })]));
}

/** A drawing of Start and one request to `url`. */
export function call(url: string, label = 'Call'): Drawing {
  return drawing(linkInRow([trigger([], { label: 'Start' }), http(url, { label })]));
}

/** A drawing of `count` calls side by side. */
export function sideBySide(target: HttpTarget, count: number): Drawing {
  return fanOut(count, (index) => http(`${target.url}/delay/${index % 40}/${index}`, { label: `Call ${index}` }));
}

/** A drawing whose model answers with this text. */
export function answer(stack: TestStack, text: string, label = 'Answer'): Drawing {
  const model = `answers-${randomUUID()}`;
  stack.modelProvider.script(model, { text });
  const node = llm('Hello', { label, settings: { model_name: model, temperature: 0 } });
  return drawing(linkInRow([trigger([], { label: 'Start' }), node]));
}

/** A drawing of an agent that calls the tool `add`, for which it needs an approval. */
export function asksToAdd(stack: TestStack, toolsUrl: string): Drawing {
  const model = `asks-${randomUUID()}`;
  stack.modelProvider.script(model, [
    { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
    { text: 'It is **3**' },
  ]);
  const clerk = agent('Add', { model_name: model }, [{ endpoint_url: toolsUrl }], { label: 'Clerk' });
  return drawing(linkInRow([trigger([], { label: 'Start' }), clerk]));
}

/** Returns the node of the drawing with this accessible name, such as `Call, succeeded`. */
export function nodeNamed(page: Page, name: string) {
  return page.getByRole('region', { name: 'Graph' }).getByRole('group', { name, exact: true });
}

export function panel(page: Page) {
  return page.getByRole('region', { name: 'Node', exact: true });
}
