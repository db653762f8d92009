import { DropdownMenu as Parts } from 'radix-ui';
import { useState } from 'react';
import './menu.css';
import type { MenuAction } from './menu.js';

interface PointMenuProps {
  /** Accessible name. */
  label: string;
  /** Window coordinates. */
  at: { x: number; y: number };
  items: readonly MenuAction[];
  onClose: () => void;
}

/** A menu at a point of the window, such as the context menu of a node. Open while rendered. */
export function PointMenu({ label, at, items, onClose }: PointMenuProps) {
  const [focused] = useState(() => document.activeElement);
  return (
    <Parts.Root open modal={false} onOpenChange={(isOpen) => !isOpen && onClose()}>
      {/* Radix places a menu beside its trigger, so an invisible trigger marks the point. */}
      <Parts.Trigger aria-hidden="true" tabIndex={-1} className="menu-point" style={{ left: at.x, top: at.y }} />
      <Parts.Portal>
        <Parts.Content
          className="menu"
          aria-label={label}
          aria-labelledby={undefined}
          align="start"
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (document.activeElement === document.body && focused instanceof HTMLElement) focused.focus();
          }}
        >
          {items.map(({ label: name, isDangerous, disabled = false, onSelect }) => (
            <Parts.Item
              key={name}
              className={isDangerous === true ? 'menu-item menu-item-dangerous' : 'menu-item'}
              disabled={disabled}
              onSelect={onSelect}
            >
              {name}
            </Parts.Item>
          ))}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}
