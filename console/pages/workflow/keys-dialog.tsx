import { ALIGNMENTS } from '../../drawing/arrange.js';
import { useStore } from '../../drawing/editor-store.js';
import { Dialog } from '../../ui/dialog.js';
import { KeyList, KEYS_OF_ALL_PAGES, type KeyInWords } from '../../ui/key-list.js';

interface Key extends KeyInWords {
  /** True if the key only works for people who may change the workflow. */
  isForEditors?: boolean;
}

const KEYS: readonly Key[] = [
  { keys: 'Ctrl+S', what: 'Save', isForEditors: true },
  { keys: 'Ctrl+Enter', what: 'Run', isForEditors: true },
  { keys: 'Ctrl+Shift+Enter', what: 'Try the chosen node', isForEditors: true },
  { keys: 'Enter', what: 'Open the chosen node wide' },
  { keys: 'Ctrl+Z', what: 'Undo', isForEditors: true },
  { keys: 'Ctrl+Shift+Z', what: 'Redo', isForEditors: true },
  { keys: '/', what: 'Search nodes', isForEditors: true },
  { keys: 'Ctrl+F', what: 'Find a node' },
  { keys: 'Ctrl+A', what: 'Choose all' },
  { keys: 'F2', what: 'Rename the chosen node', isForEditors: true },
  { keys: 'Menu', what: 'Open the menu of what is chosen' },
  { keys: 'Double click', what: 'Add a node there', isForEditors: true },
  { keys: 'Ctrl+click', what: 'Choose several' },
  { keys: 'Shift+drag', what: 'Choose everything in an area' },
  { keys: 'Ctrl+C', what: 'Copy what is chosen' },
  { keys: 'Ctrl+X', what: 'Cut what is chosen', isForEditors: true },
  { keys: 'Ctrl+V', what: 'Paste nodes, or a workflow as JSON, of n8n too', isForEditors: true },
  { keys: 'Ctrl+D', what: 'Duplicate what is chosen', isForEditors: true },
  { keys: 'Delete', what: 'Delete what is chosen', isForEditors: true },
  { keys: 'Arrow keys', what: 'Move what is chosen', isForEditors: true },
  ...ALIGNMENTS.map(({ key, name }): Key => ({ keys: `Alt+${key}`, what: name, isForEditors: true })),
  ...KEYS_OF_ALL_PAGES,
];

/** Lists the editor's keys. Viewers only see those that work for them. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const { isReadOnly } = useStore();
  return (
    <Dialog title="Keys" isWide onClose={onClose}>
      <KeyList keys={KEYS.filter(({ isForEditors }) => isForEditors !== true || !isReadOnly)} />
    </Dialog>
  );
}
