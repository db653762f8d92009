import { useStore } from '../../drawing/editor-store.js';
import { Menu } from '../../ui/menu.js';
import { useTrials } from './trial-store.js';
import { MODE_WORDS, type TrialMode } from './trying-calls.js';

const MODES: readonly TrialMode[] = ['node', 'up_to', 'from'];

/** The menu button `Test` of a node. Whoever may only look has none. */
export function TestMenu({ nodeId }: { nodeId: string }) {
  const { isReadOnly } = useStore();
  const trials = useTrials();
  if (isReadOnly) return null;
  return (
    <Menu
      label="Test"
      variant="plain"
      align="start"
      items={MODES.map((mode) => ({ label: MODE_WORDS[mode], onSelect: () => trials.ask({ nodeId, mode }) }))}
    >
      Test <span aria-hidden="true">▾</span>
    </Menu>
  );
}
