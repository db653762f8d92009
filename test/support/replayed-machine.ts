import assert from 'node:assert/strict';
import type { Payload } from '@temporalio/common';
import { WorkflowMachine, type Command, type Job } from './workflow-machine.js';

/**
 * Delivers the results of local activities together, as the SDK does when it replays a run. Throws if the run then
 * behaves differently than when they arrive one after the other, as they do in the first execution.
 */
export class ReplayedMachine {
  readonly #firstTime: WorkflowMachine;
  readonly #replay: WorkflowMachine;

  constructor(code: string) {
    this.#firstTime = new WorkflowMachine(code);
    this.#replay = new WorkflowMachine(code);
  }

  start(args: Payload[]): Command[] {
    this.#firstTime.start(args);
    return this.#replay.start(args);
  }

  step(jobs: Job[]): Command[] {
    const local = jobs.filter(isLocalResult);
    const others = jobs.filter((job) => !isLocalResult(job));
    const parts = [others, ...local.map((job) => [job])].filter((part) => part.length > 0);
    const expected = parts.flatMap((part) => this.#firstTime.step(part));
    const commands = this.#replay.step([...others, ...local]);
    assert.deepEqual(namesOf(commands), namesOf(expected), 'on replay the run does something else');
    return commands;
  }

  suggestContinueAsNew(isSuggested: boolean): void {
    this.#firstTime.suggestContinueAsNew(isSuggested);
    this.#replay.suggestContinueAsNew(isSuggested);
  }
}

function isLocalResult({ resolveActivity }: Job): boolean {
  return resolveActivity?.isLocal === true;
}

/**
 * Cancellations reach workers by another channel than commands reach the server, so only the order within each counts.
 */
function namesOf(commands: readonly Command[]): string[] {
  const isCancel = (command: Command): boolean => command.requestCancelLocalActivity !== undefined;
  return [...commands.filter(isCancel), ...commands.filter((command) => !isCancel(command))].map(nameOf);
}

function nameOf(command: Command): string {
  const [[kind, what] = []] = Object.entries(command).filter(
    ([, value]) => typeof value === 'object' && value !== null,
  );
  const { seq, activityId } = (what ?? {}) as { seq?: number; activityId?: string };
  return [kind, seq, activityId].join(' ');
}
