// The kinds that run inline: they only read their variables and decide, in code of graph/.
import type { InlineDefinition } from '../../graph/nodes/node-definition.js';
import { nodeDefinitions, type EvaluatedKind } from '../../graph/nodes/registry.js';
import { RECORDING_FACTOR } from '../node/payload-weight.js';
import type { NodeRunner } from '../node/node-step.js';
import type { RunContexts } from '../node/run-context.js';
import type { JudgeFor } from './judge-conditions.js';

interface InlineDeps {
  contexts: RunContexts;
  judge: JudgeFor;
}

export function createInlineRunner(kind: EvaluatedKind, { contexts, judge }: InlineDeps): NodeRunner {
  const definition: InlineDefinition = nodeDefinitions[kind];
  return {
    isClaimed: false,
    retry: { maxAttempts: 1, firstDelayMs: 0 },
    async run(task) {
      const { data } = task.node;
      const values = await contexts.loadValues(
        task,
        definition.templateFields.map((field) => data[field]),
      );
      const evaluation = await definition.evaluate(data, values, judge(task));
      const { memory } = task;
      // Ignores the rejection when the worker stops: the result is then recorded without waiting for memory.
      await memory.resize(memory.bytes + RECORDING_FACTOR * evaluation.output.content.length)?.catch(() => undefined);
      return evaluation;
    },
  };
}
