import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { api, unwrap, type paths } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import type { JsonObject } from '../../drawing/json.js';
import { FileProblem, readFile } from './read-file.js';
import { isWritable, projectToWriteTo, readProjects, type Project } from './use-projects.js';

type Imported = paths['/api/v1/projects/{id}/import/']['post']['responses']['201']['content']['application/json'];

export interface Importing {
  isBusy: boolean;
  /** A sentence about the last file. */
  error: string | undefined;
  /** A file that waits for its project to be chosen, with the projects there are. */
  waiting: { name: string; projects: readonly Project[] } | undefined;
  /** A workflow that was imported, but not with all that the file has. */
  imported: Imported | undefined;
  take: (file: File) => void;
  takeDropped: (files: File[]) => void;
  choose: (project: string) => void;
  open: () => void;
  /** Of whichever dialog is open. */
  close: () => void;
}

interface ReadFile {
  name: string;
  body: JsonObject;
}

/** `project`: the id of the project that the list shows; empty: all. */
export function useImport(project: string): Importing {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [waiting, setWaiting] = useState<ReadFile & { projects: Project[] }>();
  const [imported, setImported] = useState<Imported>();
  const isOn = useRef(false);
  const queries = useQueryClient();
  const [, navigate] = useLocation();

  /** Once at a time, and what fails is said of the file. */
  const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
    if (isOn.current) return;
    isOn.current = true;
    setIsBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      const why = failure instanceof FileProblem ? `${failure.message}.` : explain(failure);
      setError(`“${name}” was not imported: ${why}`);
    } finally {
      isOn.current = false;
      setIsBusy(false);
    }
  };

  const send = async ({ body }: ReadFile, into: string): Promise<void> => {
    const id = await projectToWriteTo(into);
    const made = await unwrap(api.POST('/api/v1/projects/{id}/import/', { params: { path: { id } }, body }));
    void queries.invalidateQueries({ queryKey: ['workflows'] });
    void queries.invalidateQueries({ queryKey: ['projects'] });
    if (made.warnings.length === 0) navigate(`/workflows/${made.id}`);
    else setImported(made);
  };

  const take = (file: File): void =>
    void attempt(file.name, async () => {
      const read = { name: file.name, body: await readFile(file) };
      const writable = (await readProjects()).filter(isWritable);
      const shown = writable.some(({ id }) => String(id) === project) ? project : undefined;
      if (shown === undefined && writable.length > 1) setWaiting({ ...read, projects: writable });
      else await send(read, shown ?? '');
    });

  return {
    isBusy,
    error,
    waiting,
    imported,
    take,
    takeDropped: ([file, ...others]) => {
      if (file === undefined) return;
      if (others.length === 0) take(file);
      else setError('Drop one file at a time.');
    },
    choose: (into) => {
      if (waiting === undefined) return;
      setWaiting(undefined);
      void attempt(waiting.name, () => send(waiting, into));
    },
    open: () => imported && navigate(`/workflows/${imported.id}`),
    close: () => {
      setWaiting(undefined);
      setImported(undefined);
    },
  };
}
