import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { toText } from '../../ui/json.js';
import { partOf } from '../../ui/part-of.js';
import './difference-list.css';
import type { Difference } from './run-differences.js';

const STEP = 20;
const VALUE_BYTES = 8 * 1024;

interface DifferenceListProps {
  title: string;
  differences: readonly Difference[];
  /** Headings of the two columns of values. */
  sides: readonly [left: string, right: string];
}

/** A table of differences: the path, and the value on each side. */
export function DifferenceList({ title, differences, sides: [leftName, rightName] }: DifferenceListProps) {
  const [count, setCount] = useState(STEP);
  return (
    <div role="group" aria-label={title} className="difference-list">
      <h3>{title}</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">{leftName}</th>
            <th scope="col">{rightName}</th>
          </tr>
        </thead>
        <tbody>
          {differences.slice(0, count).map(({ path, left, right }) => (
            <tr key={path}>
              <th scope="row">{path === '' ? 'the whole' : path}</th>
              <td className="difference-left" data-side={leftName}>
                <Value value={left} />
              </td>
              <td className="difference-right" data-side={rightName}>
                <Value value={right} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {differences.length > count && (
        <Button variant="quiet" onClick={() => setCount(count + 5 * STEP)}>
          Show more of {differences.length} differences
        </Button>
      )}
    </div>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === undefined) return <span className="difference-nothing">not there</span>;
  const part = partOf(toText(value), VALUE_BYTES);
  return (
    <pre className="difference-value">
      {part.text}
      {part.isWhole ? '' : ' …'}
    </pre>
  );
}
