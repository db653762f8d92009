import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { partOf } from '../../../ui/part-of.js';
import { toText } from '../../../drawing/json.js';
import type { Difference } from './json-differences.js';

const STEP = 20;
const VALUE_BYTES = 8 * 1024;

export function DifferenceList({ title, differences }: { title: string; differences: readonly Difference[] }) {
  const [count, setCount] = useState(STEP);
  return (
    <div role="group" aria-label={title} className="difference-list">
      <h3>{title}</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">This run</th>
            <th scope="col">Other run</th>
          </tr>
        </thead>
        <tbody>
          {differences.slice(0, count).map(({ path, left, right }) => (
            <tr key={path}>
              <th scope="row">{path === '' ? 'the whole' : path}</th>
              <td data-side="This run">
                <Value value={left} />
              </td>
              <td data-side="Other run">
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
