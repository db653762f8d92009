// Actual values of variables: from pins, the latest tests, and the latest or the chosen run of the workflow.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../../service/api.js';
import { triggerOf } from '../../../drawing/drawing.js';
import { useEditor, useStore } from '../../../drawing/editor-store.js';
import { ownValue } from '../../../../graph/json.js';
import { parseStructure } from '../../../ui/json.js';
import { useTest } from './use-tests.js';
import { contentOfPin } from './test-calls.js';
import { originOfRun } from './test-store.js';
import type { ReadValue } from './variable-values.js';

interface KnownValues {
  /** Makes the hook load the latest run, so call this before `read`. */
  want: () => void;
  read: ReadValue;
  /** Returns where the values of a node are from; undefined if there are none. */
  originOf: (nodeId: string) => string | undefined;
}

export function useKnownValues(workflowId: number): KnownValues {
  const [isWanted, setIsWanted] = useState(false);
  const results = useTest((state) => state.results);
  const pins = useTest((state) => state.pins);
  const run = useTest((state) => state.run);
  const { kinds } = useStore();
  const trigger = useEditor(({ history }) => triggerOf(history.present, kinds)?.id);
  const newest = useQuery({
    queryKey: ['workflow', workflowId, 'newest-run'],
    queryFn: ({ signal }) => readNewestRun(workflowId, signal),
    enabled: isWanted,
    staleTime: 10_000,
  });
  // If the person has chosen an earlier run, no value of the latest run is mixed with its values.
  const latest = run?.isEarlier === true ? undefined : newest.data;
  const originOf = (id: string): string | undefined => {
    if (pins.some(({ node_id: nodeId, path }) => nodeId === id && path === '')) return 'pinned';
    const { entry, runId } = results.get(id) ?? {};
    if (entry?.status === 'succeed' || entry?.status === 'failed') {
      return run !== undefined && runId === run.runId ? originOfRun(run) : 'of a test';
    }
    return latest?.result[id] === undefined ? undefined : 'of the last run';
  };
  const nodeOf = (id: string): unknown => {
    const pin = pins.find(({ node_id: nodeId, path }) => nodeId === id && path === '');
    if (pin !== undefined) return pin.error === null ? { result: contentOfPin(pin) } : contentOfPin(pin);
    const { entry } = results.get(id) ?? {};
    return entry?.status === 'succeed' || entry?.status === 'failed' ? entry : latest?.result[id];
  };
  return {
    want: () => setIsWanted(true),
    originOf,
    read: ([first = '', ...rest]) => {
      const from = first === 'input' ? (inputOf(nodeOf(trigger ?? '')) ?? latest?.input_data) : nodeOf(first);
      return rest.reduce<unknown>((value, key) => stepInto(value, key), from);
    },
  };
}

/** The content of a trigger's result is the input as JSON text. */
function inputOf(entry: unknown): unknown {
  const content = ownValue(ownValue(entry, 'result'), 'content');
  return typeof content === 'string' ? parseStructure(content) : undefined;
}

function stepInto(value: unknown, key: string): unknown {
  return Array.isArray(value) ? value[Number(key)] : ownValue(value, key);
}

async function readNewestRun(workflowId: number, signal: AbortSignal) {
  const query = { workflow: workflowId, page: 1, size: 1 };
  const { items } = await unwrap(api.GET('/api/v1/runs/', { params: { query }, signal }));
  const [run] = items;
  if (run === undefined) return null;
  return unwrap(api.GET('/api/v1/runs/{run_id}/', { params: { path: { run_id: run.id } }, signal }));
}
