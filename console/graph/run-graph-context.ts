import { createContext } from 'react';

export interface RunGraphContextValue {
  runId: string;
  /** The node whose details are shown. */
  selected: string | undefined;
  onSelect: (nodeId: string) => void;
}

/** What the nodes of the drawing share: React Flow renders them by themselves. */
export const RunGraphContext = createContext<RunGraphContextValue>({
  runId: '',
  selected: undefined,
  onSelect: () => undefined,
});
