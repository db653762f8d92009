import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { partOf } from '../../../ui/part-of.js';
import './json-tree.css';
import { isStructure, summaryOf, WrittenNumber } from '../../../drawing/json.js';

interface JsonTreeProps {
  value: unknown;
  /** Levels that are open at first. */
  depth?: number;
}

/** So many entries of an object or array at a time. */
const STEP = 100;
const STRING_BYTES = 4 * 1024;

/** JSON to look into: objects and arrays fold, and what is folded is not rendered. */
export function JsonTree({ value, depth = 2 }: JsonTreeProps) {
  if (!isStructure(value) || isEmpty(value)) {
    return (
      <div className="json-tree">
        <Leaf value={value} />
      </div>
    );
  }
  return (
    <div className="json-tree">
      <Entries value={value} depth={depth} />
    </div>
  );
}

function Entries({ value, depth }: { value: object; depth: number }) {
  const [count, setCount] = useState(STEP);
  const entries = Object.entries(value);
  return (
    <ul className="json-tree-entries">
      {entries.slice(0, count).map(([key, item]) => (
        <li key={key}>
          {isStructure(item) ? <Branch name={key} value={item} depth={depth - 1} /> : leafOf(key, item)}
        </li>
      ))}
      {entries.length > count && (
        <li>
          <Button variant="quiet" onClick={() => setCount(count + STEP)}>
            Show {Math.min(STEP, entries.length - count)} more of {entries.length}
          </Button>
        </li>
      )}
    </ul>
  );
}

function Branch({ name, value, depth }: { name: string; value: object; depth: number }) {
  const [isOpen, setIsOpen] = useState(depth > 0);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <span className="json-tree-key">{name}</span> <span className="json-tree-muted">{summaryOf(value)}</span>
      </summary>
      {isOpen && <Entries value={value} depth={depth} />}
    </details>
  );
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function leafOf(name: string, value: unknown) {
  return (
    <>
      <span className="json-tree-key">{name}</span>: <Leaf value={value} />
    </>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setIsWhole] = useState(false);
  if (isStructure(value)) return <span className="json-tree-muted">{Array.isArray(value) ? '[ ]' : '{ }'}</span>;
  if (value === '') return <span className="json-tree-muted">&quot;&quot;</span>;
  if (typeof value !== 'string') {
    return <span className="json-tree-literal">{value instanceof WrittenNumber ? value.text : String(value)}</span>;
  }
  const part = isWhole ? { text: value, isWhole } : partOf(value, STRING_BYTES);
  return (
    <>
      <span className="json-tree-string">{part.text}</span>
      {!part.isWhole && (
        <>
          {'… '}
          <Button variant="quiet" onClick={() => setIsWhole(true)}>
            Show all {value.length} characters
          </Button>
        </>
      )}
    </>
  );
}
