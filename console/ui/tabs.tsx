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

interface TabGroup {
  /** Heading, and the name of the list of tabs. */
  name: string;
  tabs: readonly Tab[];
  /** Content between the heading and the tabs, such as a choice that applies to all of them. */
  head?: ReactNode;
  /** Set if `head` begins with the same word: then only screen readers get the heading. */
  isHeadingHidden?: boolean;
}

interface GroupedTabsProps {
  groups: readonly TabGroup[];
  selected: string;
  onSelect: (id: string) => void;
}

/**
 * Tabs in groups below each other, beside their content. Moving the focus selects no tab, because the focus passes
 * other tabs on the way from one group to the next.
 */
export function GroupedTabs({ groups, selected, onSelect }: GroupedTabsProps) {
  return (
    <Parts.Root
      value={selected}
      onValueChange={onSelect}
      orientation="vertical"
      activationMode="manual"
      className="tabs-grouped"
    >
      <div className="tabs-groups">
        {groups.map((group) => (
          <GroupOfTabs key={group.name} group={group} selected={selected} />
        ))}
      </div>
      {groups.flatMap(({ tabs }) =>
        tabs.map(({ id, content }) => (
          <Parts.Content key={id} value={id} className="tabs-content">
            {content}
          </Parts.Content>
        )),
      )}
    </Parts.Root>
  );
}

function GroupOfTabs({ group, selected }: { group: TabGroup; selected: string }) {
  const { name, tabs, head, isHeadingHidden = false } = group;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => showTab(list.current!, selected), [selected]);
  return (
    <div className="tabs-group">
      <h2 className={isHeadingHidden ? 'hidden-text' : 'tabs-heading'}>{name}</h2>
      {head}
      <Parts.List className="tabs-list" aria-label={name} ref={list}>
        {tabs.map(({ id, label }) => (
          <Parts.Trigger key={id} value={id} className="tabs-tab">
            {label}
          </Parts.Trigger>
        ))}
      </Parts.List>
    </div>
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
