import { linesAround } from '../../../ui/part-of.js';
import './code-lines.css';

interface CodeLinesProps {
  code: string;
  /** The number of the line that is marked, from 1. */
  marked: number | undefined;
}

/** Code with the numbers of its lines; of long code what is around the marked line. */
export function CodeLines({ code, marked }: CodeLinesProps) {
  const { lines, first, total } = linesAround(code, marked);
  return (
    <section className="node-part" aria-label="Code">
      <h3>Code</h3>
      {lines.length < total && (
        <p className="node-hint">
          Lines {first} to {first + lines.length - 1} of {total} are shown.
        </p>
      )}
      {/* It scrolls by keyboard, too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="code-lines" role="group" aria-label="Lines" tabIndex={0}>
        <ol>
          {lines.map((text, index) =>
            first + index === marked ? (
              <li key={first + index} data-line={first + index} className="code-line-marked" ref={showInTheMiddle}>
                <mark>{text}</mark>
              </li>
            ) : (
              <li key={first + index} data-line={first + index}>
                {text}
              </li>
            ),
          )}
        </ol>
      </div>
    </section>
  );
}

/** Scrolls the code and not the page. */
function showInTheMiddle(line: HTMLLIElement | null): void {
  const box = line?.offsetParent;
  if (line && box) box.scrollTop = line.offsetTop - (box.clientHeight - line.offsetHeight) / 2;
}
