import { DropdownMenu as Parts } from 'radix-ui';
import '../ui/menu.css';
import type { NodeKind, NodeKinds } from './node-kind.js';
import { isStart } from './node-kind.js';

interface KindMenuProps {
  /** In the window. */
  at: { x: number; y: number };
  kinds: NodeKinds;
  onChoose: (kind: NodeKind) => void;
  onClose: () => void;
}

/** Which kind of node a link leads to that was dropped on empty ground. */
export function KindMenu({ at, kinds, onChoose, onClose }: KindMenuProps) {
  return (
    <Parts.Root open modal={false} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Parts.Trigger asChild>
        <span aria-hidden="true" style={{ position: 'fixed', left: at.x, top: at.y }} />
      </Parts.Trigger>
      <Parts.Portal>
        <Parts.Content className="menu" align="start" collisionPadding={8} aria-label="Which kind of node">
          {[...kinds.values()]
            .filter((kind) => !isStart(kind))
            .map((kind) => (
              <Parts.Item key={kind.type} className="menu-item" onSelect={() => onChoose(kind)}>
                {kind.title}
              </Parts.Item>
            ))}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}
