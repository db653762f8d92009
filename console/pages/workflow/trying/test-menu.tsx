import { useStore } from '../../../drawing/editor-store.js';
import { Menu } from '../../../ui/menu.js';
import { useTrials } from './use-trials.js';
import { MODE_WORDS } from './trying-calls.js';
import type { TrialMode } from './trial-store.js';

const MODES: readonly TrialMode[] = ['node', 'up_to', 'from'];

interface TestMenuProps {
  /** The node that is tried. Without one the button is disabled. */
  nodeId: string | undefined;
  variant?: 'plain' | 'quiet';
}

/** The menu button `Test` of a node. Whoever may only look has none. */
export function TestMenu({ nodeId, variant = 'plain' }: TestMenuProps) {
  const { isReadOnly } = useStore();
  const trials = useTrials();
  if (isReadOnly) return null;
  return (
    <Menu
      label="Test"
      variant={variant}
      align="start"
      disabled={nodeId === undefined}
      items={MODES.map((mode) => ({
        label: MODE_WORDS[mode],
        onSelect: () => nodeId !== undefined && trials.ask({ nodeId, mode }),
      }))}
    >
      Test <span aria-hidden="true">▾</span>
    </Menu>
  );
}
