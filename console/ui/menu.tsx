import { DropdownMenu as Parts } from 'radix-ui';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from './button.js';
import './menu.css';

export interface MenuAction {
  label: string;
  onSelect: () => void;
  isDangerous?: boolean;
  disabled?: boolean;
}

interface MenuLink {
  label: string;
  to: string;
}

export type MenuItem = MenuAction | MenuLink;

/** Options of which one is chosen, below the items. */
interface MenuChoice {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
}

interface MenuProps {
  /** Accessible name of the button. */
  label: string;
  /** Content of the button, by default the label. */
  children?: ReactNode;
  heading?: ReactNode;
  items: readonly MenuItem[];
  choice?: MenuChoice;
  /** Variant of the button, by default `quiet`. */
  variant?: 'plain' | 'quiet';
  /** Edge of the button with which the menu aligns, by default its end. */
  align?: 'start' | 'end';
  disabled?: boolean;
}

/** A button with a menu, which supports arrow keys, letters and Escape. */
export function Menu({
  label,
  children,
  heading,
  items,
  choice,
  variant = 'quiet',
  align = 'end',
  disabled = false,
}: MenuProps) {
  return (
    <Parts.Root modal={false}>
      <Parts.Trigger asChild>
        <Button variant={variant} aria-label={label} disabled={disabled}>
          {children ?? label}
        </Button>
      </Parts.Trigger>
      <Parts.Portal>
        <Parts.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
          {heading !== undefined && <Parts.Label className="menu-heading">{heading}</Parts.Label>}
          {items.map((item) =>
            'to' in item ? (
              <Parts.Item key={item.label} asChild>
                <Link href={item.to} className="menu-item menu-link">
                  {item.label}
                </Link>
              </Parts.Item>
            ) : (
              <Parts.Item
                key={item.label}
                className={item.isDangerous === true ? 'menu-item menu-item-dangerous' : 'menu-item'}
                disabled={item.disabled ?? false}
                onSelect={item.onSelect}
              >
                {item.label}
              </Parts.Item>
            ),
          )}
          {choice !== undefined && (
            <Parts.RadioGroup
              value={choice.value}
              onValueChange={choice.onChange}
              aria-label={choice.label}
              className="menu-choice"
            >
              <Parts.Label className="menu-choice-label">{choice.label}</Parts.Label>
              {choice.options.map(({ value, label: name }) => (
                <Parts.RadioItem key={value} value={value} className="menu-item menu-option">
                  {name}
                </Parts.RadioItem>
              ))}
            </Parts.RadioGroup>
          )}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}
