import { Button } from '../ui/button.js';

interface ItemButtonsProps {
  /** What the item is called. */
  name: string;
  at: number;
  items: readonly unknown[];
  onChange: (items: unknown[]) => void;
}

/** Moves one item of a list, or takes it out. */
export function ItemButtons({ name, at, items, onChange }: ItemButtonsProps) {
  const move = (to: number): void => onChange(items.toSpliced(at, 1).toSpliced(to, 0, items[at]));
  return (
    <div className="form-item-buttons">
      <Button variant="quiet" disabled={at === 0} aria-label={`Move ${name} up`} onClick={() => move(at - 1)}>
        ↑
      </Button>
      <Button
        variant="quiet"
        disabled={at === items.length - 1}
        aria-label={`Move ${name} down`}
        onClick={() => move(at + 1)}
      >
        ↓
      </Button>
      <Button variant="quiet" aria-label={`Remove ${name}`} onClick={() => onChange(items.toSpliced(at, 1))}>
        Remove
      </Button>
    </div>
  );
}
