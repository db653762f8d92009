// The workflow of a schedule's firing, without a server, where it waits for a run that is no child of its execution.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SCHEDULED_RUN_TYPE } from '../../contract/scheduled-run.js';
import { fromPayload, toPayload, WorkflowMachine, type Command } from '../support/workflow-machine.js';

const BUNDLE = path.resolve(import.meta.dirname, '../../dist/workflow-bundle.js');
const RUN = { runId: '5b1c2d3e-0000-4000-8000-000000000001' };

describe('the firing of a schedule that follows a run', () => {
  let machine: WorkflowMachine;

  beforeEach(() => (machine = new WorkflowMachine(readFileSync(BUNDLE, 'utf8'), SCHEDULED_RUN_TYPE)));

  const follow = (): Command[] => machine.start([toPayload(RUN)]);

  /** Answers the check for which `commands` ask, and returns what the workflow does then. */
  function answer(commands: Command[], isOver: boolean): Command[] {
    const asked = commands.find(({ scheduleLocalActivity }) => scheduleLocalActivity)!.scheduleLocalActivity!;
    assert.deepEqual([asked.activityType, fromPayload(asked.arguments![0]!)], ['isRunOver', RUN]);
    const result = { completed: { result: toPayload(isOver) } };
    return machine.step([{ variant: 'resolveActivity', resolveActivity: { seq: asked.seq!, isLocal: true, result } }]);
  }

  function afterPause(commands: Command[]): Command[] {
    const { seq } = commands.find(({ startTimer }) => startTimer)!.startTimer!;
    return machine.step([{ variant: 'fireTimer', fireTimer: { seq: seq! } }]);
  }

  it('continues as new with its run once its history is long, so that Temporal never terminates it', () => {
    const again = afterPause(answer(follow(), false));
    machine.suggestContinueAsNew(true);
    const [next, ...others] = answer(again, false);
    assert.deepEqual(others, []);
    const args = Array.from(next!.continueAsNewWorkflowExecution!.arguments!);
    assert.deepEqual(args.map(fromPayload), [RUN]);
    const [end] = answer(machine.start(args), true);
    assert.ok(end!.completeWorkflowExecution);
  });

  it('ends with its run although its history is long', () => {
    const started = follow();
    machine.suggestContinueAsNew(true);
    assert.ok(answer(started, true)[0]!.completeWorkflowExecution);
  });

  it('stays in its execution after a cancel, which a later execution would not know of', () => {
    const started = follow();
    machine.suggestContinueAsNew(true);
    machine.step([{ variant: 'cancelWorkflow', cancelWorkflow: { reason: 'test' } }]);
    const commands = answer(started, false);
    assert.ok(
      commands.some(({ startTimer }) => startTimer),
      JSON.stringify(commands),
    );
  });
});
