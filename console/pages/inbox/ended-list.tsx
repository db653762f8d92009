import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { explain } from '../../app/explain.js';
import { SelectField } from '../../ui/fields.js';
import { Alert, Loading, Note } from '../../ui/notices.js';
import { Pager } from '../../ui/table.js';

const PAGE_SIZE = 20;

interface EndedListProps<Item, Outcome extends string> {
  /** The first part of the queries' key. */
  name: string;
  /** `request`: what one of the items is called. */
  noun: string;
  /** The first one is chosen where the address names none. */
  outcomes: readonly { value: Outcome; label: string }[];
  list: (
    query: { status: Outcome; page: number; size: number },
    signal: AbortSignal,
  ) => Promise<{ items: Item[]; total: number; size: number }>;
  idOf: (item: Item) => string;
  /** `onChange`: the item is no longer as it was listed. */
  children: (item: Item, onChange: () => void) => ReactNode;
}

/** What has ended, by how it has: `?outcome=&page=`. */
export function EndedList<Item, Outcome extends string>(props: EndedListProps<Item, Outcome>) {
  const { name, noun, outcomes, list, idOf, children } = props;
  const [search, setSearch] = useSearchParams();
  const status = (outcomes.find(({ value }) => value === search.get('outcome')) ?? outcomes[0])!.value;
  const page = Math.max(1, Math.trunc(Number(search.get('page'))) || 1);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [name, status, 'list', page],
    queryFn: ({ signal }) => list({ status, page, size: PAGE_SIZE }, signal),
    placeholderData: (before) => before,
  });
  const set = (key: string, value: string): void =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete('page');
      next.set(key, value);
      return next;
    });
  return (
    <>
      <div className="inbox-filter">
        <SelectField label="Outcome" value={status} options={outcomes} onChange={(value) => set('outcome', value)} />
        {data !== undefined && <p>{data.total === 1 ? `1 ${noun}` : `${data.total} ${noun}s`}</p>}
      </div>
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {data === undefined && error === null && <Loading />}
      {data?.items.length === 0 && <Note>No {noun} has ended this way yet.</Note>}
      <div className="inbox-list" aria-busy={isFetching}>
        {data?.items.map((item) => (
          <Fragment key={idOf(item)}>{children(item, () => void refetch())}</Fragment>
        ))}
      </div>
      {data !== undefined && (
        <Pager page={page} size={data.size} total={data.total} onPage={(next) => set('page', String(next))} />
      )}
    </>
  );
}
