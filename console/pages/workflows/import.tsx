import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type DragEvent, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { api, unwrap, type paths } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { isObject, type JsonObject } from '../../drawing/json.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField } from '../../ui/fields.js';
import { isWritable, projectToWriteTo, readProjects, type Project } from './use-projects.js';

type Imported = paths['/api/v1/projects/{id}/import/']['post']['responses']['201']['content']['application/json'];

interface Importing {
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

interface ImportButtonProps {
  isBusy: boolean;
  onFile: (file: File) => void;
}

/** Lets a person choose a file, as `Export` or n8n writes it. */
export function ImportButton({ isBusy, onFile }: ImportButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button isBusy={isBusy} onClick={() => input.current?.click()}>
        Import
      </Button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label="File to import"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // The same file can be chosen again.
          target.value = '';
          if (file !== undefined) onFile(file);
        }}
      />
    </>
  );
}

interface DropZoneProps {
  onFiles: (files: File[]) => void;
  children: ReactNode;
}

/** A part of the page on which files can be dropped. Whoever has no mouse uses the button `Import`. */
export function DropZone({ onFiles, children }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent): void => {
    if (!holdsFiles(event)) return;
    // Without this the browser would leave the page for the file.
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    setIsOver(true);
  };
  return (
    <div
      className="drop-zone"
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={(event) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) setIsOver(false);
      }}
      onDrop={(event) => {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        setIsOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {isOver && (
        <div className="drop-zone-veil" aria-hidden="true">
          Drop the file to import the workflow
        </div>
      )}
    </div>
  );
}

function holdsFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer.types.includes('Files');
}

export function ImportDialogs({ importing }: { importing: Importing }) {
  const { waiting, imported } = importing;
  if (waiting !== undefined) return <ProjectDialog importing={importing} waiting={waiting} />;
  return imported === undefined ? null : <RemarksDialog importing={importing} imported={imported} />;
}

interface ProjectDialogProps {
  importing: Importing;
  waiting: NonNullable<Importing['waiting']>;
}

function ProjectDialog({ importing, waiting: { name, projects } }: ProjectDialogProps) {
  const [project, setProject] = useState(String(projects[0]?.id ?? ''));
  return (
    <Dialog
      title="Import workflow"
      onClose={importing.close}
      footer={
        <Button variant="primary" onClick={() => importing.choose(project)}>
          Import
        </Button>
      }
    >
      <p>Which project should have the workflow of “{name}”?</p>
      <SelectField
        label="Project"
        value={project}
        options={projects.map(({ id, name: label }) => ({ value: String(id), label }))}
        onChange={setProject}
      />
    </Dialog>
  );
}

interface RemarksDialogProps {
  importing: Importing;
  imported: NonNullable<Importing['imported']>;
}

/** What was left out of the file, and what a person has to fill in. */
function RemarksDialog({ importing, imported: { title, warnings } }: RemarksDialogProps) {
  return (
    <Dialog
      title={`“${title}” was imported`}
      onClose={importing.close}
      isWide
      footer={
        <>
          <Button onClick={importing.close}>Stay here</Button>
          <Button variant="primary" onClick={importing.open}>
            Open workflow
          </Button>
        </>
      }
    >
      <p>Not everything could be taken over as it is in the file:</p>
      {/* A long list is scrolled with the keyboard, too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ul className="import-remarks" aria-label="Remarks" tabIndex={0}>
        {warnings.map(({ node, message }, index) => (
          // The list never changes.
          <li key={index}>
            <strong>{node ?? 'The whole file'}</strong>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** Below what the service takes. */
const MAX_BYTES = 10_000_000;

/** The file as the service takes it, with the file's name for a title where it has none. Throws a `FileProblem`. */
async function readFile(file: File): Promise<JsonObject> {
  if (file.size > MAX_BYTES) throw new FileProblem('it is larger than 10 MB');
  return withTitle(parse(await file.text()), file.name.replace(/\.json$/i, ''));
}

/** Its message says why a file cannot be read, as the end of a sentence. */
class FileProblem extends Error {}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new FileProblem('it is not a workflow in JSON');
}

/** Files of this service have a `title`, those of n8n a `name`, and a drawing by itself neither. */
function withTitle(file: JsonObject, title: string): JsonObject {
  if (isObject(file['data'])) return { title, ...file };
  if (isObject(file['connections'])) return { name: title, ...file };
  return Array.isArray(file['nodes']) && file['edges'] !== undefined ? { title, data: file } : file;
}
