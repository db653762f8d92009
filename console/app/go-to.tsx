import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef, useState, type KeyboardEvent } from 'react';
import { Link, useLocation } from 'wouter';
import { runWord } from '../live/run-word.js';
import { Dialog } from '../ui/dialog.js';
import { SearchField } from '../ui/fields.js';
import { Time } from '../ui/figures.js';
import { Status } from '../ui/status.js';
import { PLACES } from '../service/addresses.js';
import { api, unwrap } from '../service/api.js';
import './go-to.css';
import { Problem } from '../service/problem.js';
import { useTyped } from '../service/search-state.js';

/** Finds pages, workflows and runs by typing. Enter opens the first result, arrow keys move to the others. */
export function GoTo({ onClose }: { onClose: () => void }) {
  const [wanted, setWanted] = useState('');
  const [text, setText] = useTyped(wanted, setWanted);
  const [, navigate] = useLocation();
  const list = useRef<HTMLDivElement>(null);
  const found = useFound(wanted.trim());
  const pages = PLACES.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
  const move = (event: KeyboardEvent): void => {
    const links = [...(list.current?.querySelectorAll<HTMLAnchorElement>('a') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === 'Enter' && at < 0) {
      event.preventDefault();
      const first = links[0]?.getAttribute('href');
      // Until the response arrives, the results belong to an earlier text.
      if (typeof first !== 'string' || (pages.length === 0 && wanted !== text)) return;
      onClose();
      navigate(first);
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    links.at((at + (event.key === 'ArrowDown' ? 1 : -1)) % links.length)?.focus();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      {/* The keys only move between links, which work without them. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div className="go-to" onKeyDown={move}>
        <SearchField label="Search workflows, runs and pages" value={text} onChange={setText} />
        <Problem error={found.error} onRetry={() => void found.refetch()} isRetrying={found.isFetching} />
        <div ref={list} className="go-to-found" aria-busy={found.isFetching || undefined}>
          <Group title="Pages" onClose={onClose} entries={pages.map(({ to, name }) => ({ to, name }))} />
          <Group title="Workflows" onClose={onClose} entries={found.data?.workflows ?? []} />
          <Group title="Runs" onClose={onClose} entries={found.data?.runs ?? []} />
        </div>
      </div>
    </Dialog>
  );
}

interface Entry {
  to: string;
  name: string;
  run?: { status: string; at: string };
}

function Group({ title, entries, onClose }: { title: string; entries: readonly Entry[]; onClose: () => void }) {
  if (entries.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {entries.map(({ to, name, run }) => (
          <li key={to}>
            <Link href={to} onClick={onClose} className="go-to-link">
              <span>{name}</span>
              {run !== undefined && (
                <span className="go-to-run">
                  <Time at={run.at} /> <Status status={run.status} />
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

const WORKFLOWS = 8;
const RUNS = 5;

function useFound(search: string) {
  return useQuery({
    queryKey: ['go-to', search],
    queryFn: async ({ signal }) => {
      const asked = search === '' ? {} : { search };
      const [workflows, runs] = await Promise.all([
        unwrap(
          api.GET('/api/v1/all-workflows/', {
            params: { query: { ...asked, size: WORKFLOWS, ordering: '-last_run_at' } },
            signal,
          }),
        ),
        unwrap(api.GET('/api/v1/runs/', { params: { query: { ...asked, size: RUNS } }, signal })),
      ]);
      return {
        workflows: workflows.items.map(({ id, title }): Entry => ({ to: `/workflows/${id}`, name: title })),
        runs: runs.items.map((run): Entry => ({
          to: `/runs/${run.id}`,
          name: run.workflow.title,
          run: { status: runWord(run), at: run.run_started_at ?? run.created_at },
        })),
      };
    },
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  });
}
