import { createContext, use, useDeferredValue, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { isContainer } from '../../../graph/json.js';
import { summaryOf } from '../../ui/json.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { partOf } from '../../ui/part-of.js';
import { searchJson, splitAtMatches, toVariable, type JsonPath } from './json-search.js';
import './json-tree.css';

interface JsonTreeProps {
  value: unknown;
  /** Number of levels that are open at first. */
  depth?: number;
  /** The variable of the value: `NODE.result`. If set, each key has a button `Copy path`. */
  root?: string;
}

/** JSON as a tree. Folded objects and arrays are not rendered. */
export function JsonTree({ value, depth = 2, root }: JsonTreeProps) {
  const tools = useMemo(() => ({ ...NO_TOOLS, value, root }), [value, root]);
  return (
    <TreeTools value={tools}>
      <Tree value={value} depth={depth} step={undefined} />
    </TreeTools>
  );
}

/** A tree with a search field. Enter goes to the next match, Shift+Enter to the previous one. */
export function SearchedTree({ value, depth = 2, root }: JsonTreeProps) {
  const [text, setText] = useState('');
  const [step, setStep] = useState<Step>();
  // Deferred, so that searching a large value does not delay typing.
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const found = useMemo(() => searchJson(value, wanted), [value, wanted]);
  const tools = useMemo(() => ({ value, root, wanted }), [value, root, wanted]);
  const walk = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || found.paths.length === 0) return;
    event.preventDefault();
    const count = found.paths.length;
    const next = step?.wanted === wanted ? step.at + (event.shiftKey ? -1 : 1) : 0;
    const at = (next + count) % count;
    setStep({ wanted, at, path: found.paths[at]! });
  };
  const shown = step?.wanted === wanted ? step : undefined;
  if (!isContainer(value) || isEmpty(value)) return <JsonTree value={value} />;
  return (
    <div className="json-searched">
      <div className="json-search">
        <input
          type="search"
          className="control"
          aria-label="Search in result"
          placeholder="Search in result"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={walk}
        />
        <output className="json-search-count">{countInWords(wanted, found, shown)}</output>
      </div>
      <TreeTools value={tools}>
        <Tree value={value} depth={depth} step={shown} />
      </TreeTools>
    </div>
  );
}

function countInWords(wanted: string, { paths, isCut }: ReturnType<typeof searchJson>, step: Step | undefined): string {
  if (wanted === '') return '';
  const all = `${paths.length}${isCut ? '+' : ''}`;
  if (step !== undefined) return `${step.at + 1} of ${all}`;
  return paths.length === 1 ? '1 match' : `${all} matches`;
}

/** The current match. Its ancestors are opened and it is scrolled into view. */
interface Step {
  wanted: string;
  at: number;
  path: JsonPath;
}

interface Tools {
  /** The root value. */
  value: unknown;
  root: string | undefined;
  /** The search text in lower case. */
  wanted: string;
}

const NO_TOOLS: Tools = { value: undefined, root: undefined, wanted: '' };
/** Shared by all parts of a tree. */
const TreeTools = createContext(NO_TOOLS);

function Tree({ value, depth, step }: { value: unknown; depth: number; step: Step | undefined }) {
  return (
    <div className="json-tree">
      {!isContainer(value) || isEmpty(value) ? (
        <Leaf value={value} />
      ) : (
        <Entries value={value} depth={depth} path={WHOLE} step={step} />
      )}
    </div>
  );
}

const WHOLE: JsonPath = [];
/** Number of entries of an object or array that are rendered at a time. */
const STEP = 100;
const STRING_BYTES = 4 * 1024;

interface PartProps {
  value: object;
  depth: number;
  path: JsonPath;
  /** The current match if it is in this part. */
  step: Step | undefined;
}

function Entries({ value, depth, path, step }: PartProps) {
  const [range, setRange] = useState({ from: 0, to: STEP });
  const [seen, setSeen] = useState<Step>();
  const keys = useMemo(() => Object.keys(value), [value]);
  if (step !== seen) {
    setSeen(step);
    const at = step === undefined ? -1 : keys.indexOf(step.path[path.length]!);
    // Renders the match's own page of entries instead of all entries before it.
    if (at >= 0 && (at < range.from || at >= range.to))
      setRange({ from: at - (at % STEP), to: at - (at % STEP) + STEP });
  }
  const { from, to } = range;
  return (
    <ul className="json-tree-entries">
      {from > 0 && (
        <li>
          <Button variant="quiet" onClick={() => setRange({ from: Math.max(0, from - STEP), to })}>
            Show {Math.min(STEP, from)} before of {keys.length}
          </Button>
        </li>
      )}
      {keys.slice(from, to).map((key) => (
        <Entry
          key={key}
          name={key}
          item={(value as Record<string, unknown>)[key]}
          depth={depth}
          path={path}
          step={step?.path[path.length] === key ? step : undefined}
        />
      ))}
      {keys.length > to && (
        <li>
          <Button variant="quiet" onClick={() => setRange({ from, to: to + STEP })}>
            Show {Math.min(STEP, keys.length - to)} more of {keys.length}
          </Button>
        </li>
      )}
    </ul>
  );
}

interface EntryProps {
  name: string;
  item: unknown;
  depth: number;
  /** Path of the enclosing object or array. */
  path: JsonPath;
  step: Step | undefined;
}

function Entry({ name, item, depth, path, step }: EntryProps) {
  const { value, root } = use(TreeTools);
  const own = useMemo(() => [...path, name], [path, name]);
  const shown = step?.path.length === own.length ? step : undefined;
  const isShown = shown !== undefined;
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (shown !== undefined) place.current?.scrollIntoView({ block: 'center' });
  }, [shown]);
  return (
    <li
      ref={place}
      className={isShown ? 'json-tree-entry json-tree-shown' : 'json-tree-entry'}
      aria-current={isShown || undefined}
    >
      {isContainer(item) && !isEmpty(item) ? (
        <Branch name={name} value={item} depth={depth - 1} path={own} step={step} />
      ) : (
        <>
          <Name text={name} />: <Leaf value={item} />
        </>
      )}
      {root !== undefined && (
        <span className="json-tree-copy" title={toVariable(root, value, own)}>
          <CopyButton text={toVariable(root, value, own)} label="Copy path" />
        </span>
      )}
    </li>
  );
}

function Branch({ name, value, depth, path, step }: PartProps & { name: string }) {
  const [isOpen, setIsOpen] = useState(depth > 0);
  const [seen, setSeen] = useState<Step>();
  if (step !== seen) {
    setSeen(step);
    if (step !== undefined && step.path.length > path.length) setIsOpen(true);
  }
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <Name text={name} /> <span className="json-tree-muted">{summaryOf(value)}</span>
      </summary>
      {isOpen && <Entries value={value} depth={depth} path={path} step={step} />}
    </details>
  );
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function Name({ text }: { text: string }) {
  return (
    <span className="json-tree-key">
      <Marked text={text} />
    </span>
  );
}

function Marked({ text }: { text: string }) {
  const { wanted } = use(TreeTools);
  const parts = splitAtMatches(text, wanted);
  // Parts have no ids, and their order is stable for the same text.
  // oxlint-disable-next-line react/no-array-index-key
  return parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part));
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setIsWhole] = useState(false);
  if (isContainer(value)) return <span className="json-tree-muted">{Array.isArray(value) ? '[ ]' : '{ }'}</span>;
  if (value === '') return <span className="json-tree-muted">&quot;&quot;</span>;
  if (typeof value !== 'string') {
    return (
      <span className="json-tree-literal">
        <Marked text={String(value)} />
      </span>
    );
  }
  const part = isWhole ? { text: value, isWhole } : partOf(value, STRING_BYTES);
  return (
    <>
      <span className="json-tree-string">
        <Marked text={part.text} />
      </span>
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
