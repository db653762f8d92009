import { useMemo, useState } from 'react';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/status.js';
import { toPicture } from './drawing-picture.js';
import type { Example } from './example-runs.js';
import { GraphPicture } from './graph-picture.js';
import { LongText } from './long-text-block.js';

const MOST_RESULTS = 30;
type Entry = Example['result'][string];

/** The drawing with how each node ended, the input, and the nodes' results in the order of the drawing. */
export function ExampleContents({ example }: { example: Example }) {
  const [isAll, setIsAll] = useState(false);
  const statuses = useMemo(
    () => new Map(Object.values(example.result).map(({ id, status }) => [id, status])),
    [example.result],
  );
  const nodes = useMemo(() => toPicture(example.data).nodes, [example.data]);
  const ended = nodes.filter(({ id }) => Object.hasOwn(example.result, id));
  return (
    <>
      <GraphPicture drawing={example.data} statuses={statuses} />
      <h3>Input</h3>
      <LongText label="Input" text={JSON.stringify(example.input_data, null, 2) ?? ''} />
      <h3>Results</h3>
      {ended.slice(0, isAll ? undefined : MOST_RESULTS).map(({ id, label }) => (
        <NodeResult key={id} label={label} entry={example.result[id]!} />
      ))}
      {!isAll && ended.length > MOST_RESULTS && (
        <p>
          <Button onClick={() => setIsAll(true)}>Show all {ended.length} results</Button>
        </p>
      )}
    </>
  );
}

function NodeResult({ label, entry }: { label: string; entry: Entry }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="example-result" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <span className="example-result-label">{label}</span> <Status status={entry.status} />
      </summary>
      {isOpen && <LongText label={`Result of ${label}`} text={textOf(entry)} />}
    </details>
  );
}

/** The text that other nodes read; a failed node has an error instead. */
function textOf({ result, error }: Entry): string {
  if (error !== undefined) return `${error.code}: ${error.message}`;
  const content = (result as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : JSON.stringify(result ?? null, null, 2);
}
