import './key-list.css';

export interface KeyInWords {
  /** Such as `Ctrl+K`. */
  keys: string;
  what: string;
}

export const KEYS_OF_ALL_PAGES: readonly KeyInWords[] = [
  { keys: 'Ctrl+K', what: 'Go to a page, a workflow or a run' },
  { keys: '?', what: 'Show these keys' },
];

export function KeyList({ keys: list }: { keys: readonly KeyInWords[] }) {
  const isMac = navigator.platform.startsWith('Mac');
  return (
    <dl className="keys">
      {list.map(({ keys, what }) => (
        <div key={what} className="keys-row">
          <dt>
            <kbd>{isMac ? keys.replace('Ctrl', '⌘') : keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
