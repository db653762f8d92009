import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { QueryPlaceholder } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { SelectField } from '../../ui/fields.js';
import { Money, Time } from '../../ui/figures.js';
import { beginningOf } from '../../ui/part-of.js';
import { Status } from '../../ui/status.js';
import { toPicture } from '../../drawing/drawing-picture.js';
import { GraphPicture } from './graph-picture.js';
import './marketplace-item.css';

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function Examples({ slug }: { slug: string }) {
  const { data, error, refetch, isFetching } = useExamples(slug);
  const [chosen, setChosen] = useState<string>();
  const example = data?.find(({ id }) => id === chosen) ?? data?.[0];
  return (
    <section className="card" aria-labelledby="examples">
      <h2 id="examples">Examples</h2>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.length === 0 && <p>Its author has not chosen an example run.</p>}
      {data !== undefined && data.length > 1 && example !== undefined && (
        <SelectField
          label="Example"
          value={example.id}
          onChange={setChosen}
          options={data.map(({ id, created_at }, at) => ({
            value: id,
            label: `Example ${at + 1}, ${FORMAT.format(new Date(created_at))}`,
          }))}
        />
      )}
      {example !== undefined && <OneExample key={example.id} slug={slug} listed={example} />}
    </section>
  );
}

function OneExample({ slug, listed }: { slug: string; listed: Listed }) {
  const { data, error, refetch, isFetching } = useExample(slug, listed.id);
  return (
    <>
      <p>
        Run on <Time at={listed.created_at} /> for <Money amount={listed.cost} />.
      </p>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && <ExampleContents example={data} />}
    </>
  );
}

const MOST_RESULTS = 30;
type Entry = Example['result'][string];

/** The drawing with each node's status, the input, and the results in the drawing's order. */
function ExampleContents({ example }: { example: Example }) {
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

/** Returns the error of a failed node, else the text content of the result, else the result as JSON. */
function textOf({ result, error }: Entry): string {
  if (error !== undefined) return `${error.code}: ${error.message}`;
  const content = (result as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : JSON.stringify(result ?? null, null, 2);
}

type ExampleList =
  paths['/api/v1/workflows/marketplace/{slug}/examples/']['get']['responses'][200]['content']['application/json'];
type Example =
  paths['/api/v1/workflows/marketplace/{slug}/examples/{run_id}/']['get']['responses'][200]['content']['application/json'];
type Listed = Pick<ExampleList[number], 'id' | 'created_at' | 'cost'>;

/** Loads the latest examples. Keeps only the fields of `Listed` in memory, because the results may be large. */
function useExamples(slug: string): UseQueryResult<Listed[]> {
  return useQuery({
    queryKey: ['marketplace', 'examples', slug],
    queryFn: async ({ signal }) => {
      const path = '/api/v1/workflows/marketplace/{slug}/examples/';
      const examples = await unwrap(api.GET(path, { params: { path: { slug } }, signal }));
      return examples.map(({ id, created_at, cost }) => ({ id, created_at, cost }));
    },
    staleTime: 60_000,
  });
}

function useExample(slug: string, runId: string): UseQueryResult<Example> {
  return useQuery({
    queryKey: ['marketplace', 'examples', slug, runId],
    queryFn: ({ signal }) => {
      const path = '/api/v1/workflows/marketplace/{slug}/examples/{run_id}/';
      return unwrap(api.GET(path, { params: { path: { slug, run_id: runId } }, signal }));
    },
    staleTime: 60_000,
  });
}

const MOST_LINES = 30;
const MOST_CHARACTERS = 4_000;

/** Shows only the beginning of a long text until the person asks for all of it. */
function LongText({ label, text }: { label: string; text: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const part = beginningOf(text, MOST_LINES, MOST_CHARACTERS);
  return (
    <div className="long-text">
      {/* Focusable, so that keyboard users can scroll it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="long-text-body" role="group" aria-label={label} tabIndex={0}>
        {isOpen ? text : part.text}
      </pre>
      {!part.isWhole && !isOpen && <Button onClick={() => setIsOpen(true)}>Show all</Button>}
    </div>
  );
}
