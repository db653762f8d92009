import { useStore } from '../../drawing/editor-store.js';
import { chipOf } from '../../drawing/chips.js';
import { variablesFor } from '../../drawing/variables.js';
import type { KnownVariables } from '../../forms/form.js';
import { useKnownValues } from './test-run/known-values.js';
import { previewOf, withValues } from './test-run/variable-values.js';

/** The variables of a node's form, with values from pins, tests and the latest run. */
export function useFormVariables(workflowId: number, nodeId: string, isChat: boolean): KnownVariables {
  const store = useStore();
  const { read, originOf, want } = useKnownValues(workflowId);
  return {
    groups: () =>
      withValues(variablesFor(store.drawing, store.kinds, nodeId, isChat), read).map((group) => {
        const origin = group.nodeId === undefined ? undefined : originOf(group.nodeId);
        return origin === undefined ? group : { ...group, origin };
      }),
    chipOf: (expression) => chipOf(store.drawing, store.kinds, expression, isChat),
    preview: (value) => previewOf(value, read),
    want,
  };
}
