import { useId, useMemo, useState } from 'react';
import { Button } from '../../ui/button.js';
import { beginningOf } from '../../ui/part-of.js';
import { toVisibleJson } from '../../ui/visible-json.js';

const MOST_LINES = 24;
const MOST_CHARACTERS = 1_500;
const COUNT = new Intl.NumberFormat();

/** Arguments as they are. A long text begins folded, which is said beside the button that shows all of it. */
export function ArgumentsText({ title, value }: { title: string; value: unknown }) {
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  const text = useMemo(() => toVisibleJson(value), [value]);
  const part = beginningOf(text, MOST_LINES, MOST_CHARACTERS);
  const isCut = !isOpen && !part.isWhole;
  return (
    <section className="request-arguments" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <pre className="request-json" dir="ltr">
        {isCut ? part.text : text}
      </pre>
      {!part.isWhole && (
        <p className="request-cut">
          {isCut && (
            <span>
              {COUNT.format(part.text.length)} of {COUNT.format(text.length)} characters are shown.
            </span>
          )}
          <Button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? 'Show less' : 'Show all'}
          </Button>
        </p>
      )}
    </section>
  );
}
