import { useStore } from '../../../drawing/editor-store.js';
import { Menu } from '../../../ui/menu.js';
import { useTests } from './use-tests.js';
import { MODE_WORDS } from './test-calls.js';
import type { TestMode } from './test-store.js';

const MODES: readonly TestMode[] = ['node', 'up_to', 'from'];

interface TestMenuProps {
  /** The node to test. The button is disabled without one. */
  nodeId: string | undefined;
  variant?: 'plain' | 'quiet';
}

/** The menu button `Test` of a node; hidden from viewers. */
export function TestMenu({ nodeId, variant = 'plain' }: TestMenuProps) {
  const { isReadOnly } = useStore();
  const tests = useTests();
  if (isReadOnly) return null;
  return (
    <Menu
      label="Test"
      variant={variant}
      align="start"
      disabled={nodeId === undefined}
      items={[
        ...MODES.map((mode) => ({
          label: MODE_WORDS[mode],
          onSelect: () => nodeId !== undefined && tests.ask({ nodeId, mode }),
        })),
        { label: 'Write a pin', onSelect: () => tests.editPin(nodeId) },
      ]}
    >
      Test <span aria-hidden="true">▾</span>
    </Menu>
  );
}
