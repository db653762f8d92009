import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef, useState, type KeyboardEvent } from 'react';
import { Link as PageLink } from 'wouter';
import { runWord } from '../live/run-word.js';
import { Dialog } from '../ui/dialog.js';
import { SearchField } from '../ui/fields.js';
import { Time } from '../ui/figures.js';
import { Status } from '../ui/status.js';
import { api, unwrap } from '../service/api.js';
import type { RunnableWorkflow } from '../pages/workflows/run-dialog.js';
import { mayAct, useProjects, type Role } from '../service/projects.js';
import { isNotFound } from '../service/explain.js';
import { useUser } from '../service/session.js';
import { buttonsOfPage, commandsFor, type Command } from './commands.js';
import { placesFor } from './places.js';
import './go-to.css';
import { Problem } from '../service/problem.js';
import { useTyped } from '../service/search-state.js';

interface GoToProps {
  onClose: () => void;
  /** Opens the dialog that runs a workflow. */
  onRun: (workflow: RunnableWorkflow) => void;
}

/**
 * Finds pages, workflows, runs and actions while the person types. Enter in the search takes the first result; arrow
 * keys move between the results.
 */
export function GoTo({ onClose, onRun }: GoToProps) {
  const [wanted, setWanted] = useState('');
  const [text, setText] = useTyped(wanted, setWanted);
  const [buttons] = useState(buttonsOfPage);
  const list = useRef<HTMLDivElement>(null);
  const isAdmin = useUser()?.is_admin === true;
  // The links to the settings name no project, so the settings show the first one.
  const own = useProjects().data?.[0]?.role;
  const may = (role: Role): boolean => own !== undefined && mayAct(own, role);
  const typed = text.trim();
  const found = useFound(wanted.trim());
  const runnable = useRunnable(wanted.trim());
  const local = [
    { title: 'Pages', entries: placesFor(typed, { isAdmin, may }) },
    { title: 'Actions', entries: commandsFor(typed, buttons) },
  ];
  const groups = [
    ...local,
    { title: 'Workflows', entries: found.data?.workflows ?? [] },
    { title: 'Runs', entries: found.data?.runs ?? [] },
    {
      title: 'Run a workflow',
      entries: runnable.map((workflow) => ({ name: `Run ${workflow.title}`, act: () => onRun(workflow) })),
    },
  ];
  const isOld = wanted.trim() !== typed || found.isPlaceholderData;
  const isNothing = !isOld && found.isSuccess && groups.every(({ entries }) => entries.length === 0);
  const move = (event: KeyboardEvent): void => {
    // During a composition the keys choose among characters.
    if (event.nativeEvent.isComposing) return;
    const items = [...(list.current?.querySelectorAll<HTMLElement>('a, button') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) {
      event.preventDefault();
      // Until the response arrives, the results of the service belong to an earlier text.
      if (!isOld || local.some(({ entries }) => entries.length > 0)) items[0]?.click();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    const next = event.key === 'ArrowDown' ? at + 1 : Math.max(at, 0) - 1;
    items.at(next % items.length)?.focus();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      {/* The keys are shortcuts to links and buttons, which work without them. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div className="go-to" onKeyDown={move}>
        <SearchField label="Search workflows, runs and pages" value={text} onChange={setText} />
        <Problem error={found.error} onRetry={() => void found.refetch()} isRetrying={found.isFetching} />
        <div ref={list} className="go-to-found" aria-busy={found.isFetching || undefined}>
          {groups.map(({ title, entries }) => (
            <Group key={title} title={title} entries={entries} onClose={onClose} />
          ))}
          {isNothing && <p className="go-to-nothing">Nothing fits “{typed}”.</p>}
        </div>
      </div>
    </Dialog>
  );
}

interface Link {
  to: string;
  name: string;
  run?: { status: string; at: string };
}

interface GroupProps {
  title: string;
  entries: readonly (Link | Command)[];
  onClose: () => void;
}

function Group({ title, entries, onClose }: GroupProps) {
  if (entries.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {entries.map((entry, index) => (
          // Two buttons of a page may have the same name.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={`${entry.name} ${index}`}>
            {'to' in entry ? (
              <PageLink href={entry.to} onClick={onClose} className="go-to-entry">
                <span>{entry.name}</span>
                {entry.run !== undefined && (
                  <span className="go-to-run">
                    <Time at={entry.run.at} /> <Status status={entry.run.status} />
                  </span>
                )}
              </PageLink>
            ) : (
              <button type="button" className="go-to-entry" onClick={() => actAfter(onClose, entry)}>
                {entry.name}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Acts after the dialog has closed. Otherwise the dialog would take the focus back from what the action opens. */
function actAfter(close: () => void, { act }: Command): void {
  close();
  setTimeout(act);
}

const WORKFLOWS = 8;
const RUNS = 5;
/** The id of a run, also within its address. */
const RUN_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

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
        findRuns(search, signal),
      ]);
      return {
        workflows: workflows.items.map(({ id, title }): Link => ({ to: `/workflows/${id}`, name: title })),
        runs: runs.map((run): Link => ({
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

/** Finds a run by its id, else runs by the titles of their workflows. */
async function findRuns(search: string, signal: AbortSignal) {
  const [id] = RUN_ID.exec(search) ?? [];
  if (id !== undefined) {
    const params = { path: { run_id: id } };
    const found = await unwrap(api.GET('/api/v1/runs/{run_id}/', { params, signal })).catch(orNone);
    return [found].flat();
  }
  const query = { ...(search !== '' && { search }), size: RUNS };
  return (await unwrap(api.GET('/api/v1/runs/', { params: { query }, signal }))).items;
}

function orNone(error: unknown): [] {
  if (isNotFound(error)) return [];
  throw error;
}

/** Returns the workflows that match the search `run <title>` and in which the person may start runs. */
function useRunnable(search: string): readonly RunnableWorkflow[] {
  const [, title = ''] = /^run\s+(.+)$/i.exec(search) ?? [];
  const { data = [] } = useQuery({
    queryKey: ['go-to', 'runnable', title],
    queryFn: async ({ signal }) => {
      const query = { search: title, size: WORKFLOWS };
      const { items } = await unwrap(api.GET('/api/v1/all-workflows/', { params: { query }, signal }));
      return items
        .filter(({ can_edit: mayRun }) => mayRun)
        .map(({ id, title: name, project }) => ({ id, title: name, project }));
    },
    enabled: title !== '',
  });
  return data;
}
