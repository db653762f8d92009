// The kinds that run inline. The code in graph/ evaluates them: they only read their variables and decide.
import type { InlineDefinition } from '../../graph/nodes/node-definition.js';
import { nodeDefinitions, type EvaluatedKind } from '../../graph/nodes/registry.js';
import { RECORDING_FACTOR } from '../node/payload-weight.js';
import type { NodeKindRunner } from '../node/node-step.js';
import type { RunContexts } from '../node/run-context.js';
import type { JudgeFor } from './judge-conditions.js';

interface InlineDeps {
  contexts: RunContexts;
  judge: JudgeFor;
}

export function createInlineRunner(kind: EvaluatedKind, { contexts, judge }: InlineDeps): NodeKindRunner {
  const definition: InlineDefinition = nodeDefinitions[kind];
  return {
    kind,
    maxAttempts: 1,
    firstDelayMs: 0,
    async execute(task) {
      const { data } = task.node;
      const values = await contexts.loadValues(
        task,
        definition.templateFields.map((field) => data[field]),
      );
      const evaluation = await definition.evaluate(data, values, judge(task));
      const { memory } = task;
      // A stopping worker tries to record the result even without the memory that it has asked for.
      await memory.resize(memory.bytes + RECORDING_FACTOR * evaluation.output.content.length)?.catch(() => undefined);
      return evaluation;
    },
  };
}
