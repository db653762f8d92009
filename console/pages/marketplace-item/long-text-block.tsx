import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { beginningOf } from '../../ui/part-of.js';
import './long-text-block.css';

const MOST_LINES = 30;
const MOST_CHARACTERS = 4_000;

/** A text of somebody, its beginning first where it is long. */
export function LongText({ label, text }: { label: string; text: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const part = beginningOf(text, MOST_LINES, MOST_CHARACTERS);
  return (
    <div className="long-text">
      {/* It scrolls by keyboard, too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="long-text-body" role="group" aria-label={label} tabIndex={0}>
        {isOpen ? text : part.text}
      </pre>
      {!part.isWhole && !isOpen && <Button onClick={() => setIsOpen(true)}>Show all</Button>}
    </div>
  );
}
