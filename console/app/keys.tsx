import { Dialog } from '../ui/dialog.js';
import { KeyList, KEYS_OF_ALL_PAGES } from '../ui/key-list.js';

const KEYS = [
  { keys: '/', what: 'Search in the list' },
  ...KEYS_OF_ALL_PAGES,
  { keys: 'Tab', what: 'Go on to the next field or button' },
  { keys: 'Escape', what: 'Close what is open' },
];

/** The keys of all pages except the editor, which has its own list. */
export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <KeyList keys={KEYS} />
    </Dialog>
  );
}
