import { Tabs as Parts } from 'radix-ui';
import { useEffect, useRef, type ReactNode } from 'react';
import './tabs.css';

interface Tab {
  id: string;
  label: string;
  content: ReactNode;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  selected: string;
  onSelect: (id: string) => void;
}

/** Renders the content of the selected tab only. */
export function Tabs({ label, tabs, selected, onSelect }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => showTab(list.current!, selected), [selected]);
  return (
    <Parts.Root value={selected} onValueChange={onSelect} className="tabs">
      <Parts.List className="tabs-list" aria-label={label} ref={list}>
        {tabs.map(({ id, label: name }) => (
          <Parts.Trigger key={id} value={id} className="tabs-tab">
            {name}
          </Parts.Trigger>
        ))}
      </Parts.List>
      {tabs.map(({ id, content }) => (
        <Parts.Content key={id} value={id} className="tabs-content">
          {content}
        </Parts.Content>
      ))}
    </Parts.Root>
  );
}

/** Scrolls the tab into view. Unlike `scrollIntoView`, this never scrolls the page. */
function showTab(list: HTMLElement, id: string): void {
  const tab = [...list.children].find((child) => child.id.endsWith(`-trigger-${id}`));
  const place = tab?.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  if (place === undefined || (place.left >= frame.left && place.right <= frame.right)) return;
  list.scrollLeft += place.left - frame.left - (frame.width - place.width) / 2;
}
