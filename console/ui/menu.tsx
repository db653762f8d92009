import { DropdownMenu as Parts } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import './menu.css';

interface MenuItem {
  label: string;
  onSelect: () => void;
  isDangerous?: boolean;
  disabled?: boolean;
}

interface MenuProps {
  /** The accessible name of the button. */
  label: string;
  /** The content of the button. Without it the button shows the label. */
  children?: ReactNode;
  /** Text above the items. */
  heading?: ReactNode;
  items: readonly MenuItem[];
  /** The looks of the button; `quiet` unless given. */
  variant?: 'plain' | 'quiet';
  /** The edge of the button at which the menu stands; its end unless given. */
  align?: 'start' | 'end';
}

/** A button that opens a menu. Arrow keys, letters and Escape work in it. */
export function Menu({ label, children, heading, items, variant = 'quiet', align = 'end' }: MenuProps) {
  return (
    <Parts.Root modal={false}>
      <Parts.Trigger asChild>
        <Button variant={variant} aria-label={label}>
          {children ?? label}
        </Button>
      </Parts.Trigger>
      <Parts.Portal>
        <Parts.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
          {heading !== undefined && <Parts.Label className="menu-heading">{heading}</Parts.Label>}
          {items.map((item) => (
            <Parts.Item
              key={item.label}
              className={item.isDangerous === true ? 'menu-item menu-item-dangerous' : 'menu-item'}
              disabled={item.disabled ?? false}
              onSelect={item.onSelect}
            >
              {item.label}
            </Parts.Item>
          ))}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}
