import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type DragEvent, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { api, unwrap, type paths } from '../service/api.js';
import { explain } from '../service/explain.js';
import { isWritable, projectToWriteTo, readProjects, type Project } from '../service/projects.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { parseExact } from '../ui/json.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { SelectField } from '../ui/fields.js';
import { RemarksDialog } from '../ui/remarks.js';

type Imported = paths['/api/v1/projects/{id}/import/']['post']['responses']['201']['content']['application/json'];

/** A list of several workflows is sent as it is, because the service explains its refusal. */
type Body = JsonObject | unknown[];

interface ReadFile {
  name: string;
  body: Body;
}

/** Files from the person, or a file that was read before the person selected the project. */
type Source = readonly File[] | (ReadFile & { into: string });

/** `waiting`: asks for the project. `imported`: shows remarks. Neither if the workflow was opened. */
interface Outcome {
  waiting?: ReadFile & { projects: readonly Project[] };
  /** A workflow that lacks parts of its file. */
  imported?: Imported;
}

interface Importing extends Outcome {
  isBusy: boolean;
  error: string | undefined;
  take: (files: readonly File[]) => void;
  choose: (project: string) => void;
  open: () => void;
  close: () => void;
}

/** `project` is the id of the project that the list shows, empty for all projects. */
export function useImport(project: string): Importing {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const send = async (body: Body, into: string): Promise<Outcome> => {
    const id = await projectToWriteTo(into);
    const imported = await unwrap(api.POST('/api/v1/projects/{id}/import/', { params: { path: { id } }, body }));
    void queries.invalidateQueries({ queryKey: ['workflows'] });
    void queries.invalidateQueries({ queryKey: ['projects'] });
    if (imported.warnings.length > 0) return { imported };
    navigate(`/workflows/${imported.id}`);
    return {};
  };
  const read = async ([file, ...others]: readonly File[]): Promise<Outcome> => {
    if (file === undefined) return {};
    if (others.length > 0) throw new ImportProblem('Drop one file at a time.');
    const { name } = file;
    const body = await readFile(file);
    const projects = (await readProjects()).filter(isWritable);
    const shown = projects.some(({ id }) => String(id) === project) ? project : undefined;
    return shown === undefined && projects.length > 1 ? { waiting: { name, body, projects } } : send(body, shown ?? '');
  };
  const work = useMutation({
    mutationFn: (source: Source) => ('body' in source ? send(source.body, source.into) : read(source)),
  });
  const { waiting, imported } = work.data ?? {};
  return {
    ...work.data,
    isBusy: work.isPending,
    error: work.isError ? sentenceOf(work.error, work.variables) : undefined,
    take: (files) => {
      if (!work.isPending) work.mutate(files);
    },
    choose: (into) => waiting && work.mutate({ ...waiting, into }),
    open: () => imported && navigate(`/workflows/${imported.id}`),
    close: work.reset,
  };
}

function sentenceOf(error: unknown, source: Source): string {
  if (error instanceof ImportProblem) return error.message;
  return notImported('body' in source ? source.name : (source[0]?.name ?? ''), explain(error));
}

function notImported(name: string, why: string): string {
  return `“${name}” was not imported: ${why}`;
}

interface ImportButtonProps {
  isBusy: boolean;
  onFiles: (files: readonly File[]) => void;
}

/** Selects a file exported by this service or by n8n, or a plain drawing. */
export function ImportButton({ isBusy, onFiles }: ImportButtonProps) {
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
          const files = [...(target.files ?? [])];
          // Resets the input. Otherwise selecting the same file again fires no change event.
          target.value = '';
          if (files.length > 0) onFiles(files);
        }}
      />
    </>
  );
}

interface DropZoneProps {
  onFiles: (files: readonly File[]) => void;
  children: ReactNode;
}

/** A part of the page that accepts dropped files. The button `Import` is the keyboard alternative. */
export function DropZone({ onFiles, children }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent): void => {
    if (!holdsFiles(event)) return;
    // Without this the browser would navigate to the file.
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
  if (imported === undefined) return null;
  const { title, warnings } = imported;
  return (
    <RemarksDialog
      title={`“${title}” was imported`}
      lead="Not everything could be taken over as it is in the file:"
      whole="The whole file"
      warnings={warnings}
      onClose={importing.close}
      onOpen={importing.open}
    />
  );
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

/** Below the service's limit. */
const MAX_BYTES = 10_000_000;

/** `message` is the sentence to show. */
class ImportProblem extends Error {}

/** Returns the body of the import request. If the file has no title, its name becomes the title. */
async function readFile(file: File): Promise<Body> {
  if (file.size > MAX_BYTES) throw new ImportProblem(notImported(file.name, 'it is larger than 10 MB.'));
  const parsed = parse(await file.text());
  if (Array.isArray(parsed) && parsed.length > 1) return parsed;
  const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isObject(value)) throw new ImportProblem(notImported(file.name, 'it is not a workflow in JSON.'));
  return withTitle(value, file.name.replace(/\.json$/i, ''));
}

/** Returns undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Files of this service have a `title`, files of n8n a `name`, plain drawings neither. */
function withTitle(file: JsonObject, title: string): JsonObject {
  if (isObject(file['data'])) return { title, ...file };
  if (isObject(file['connections'])) return { name: title, ...file };
  return Array.isArray(file['nodes']) && file['edges'] !== undefined ? { title, data: file } : file;
}
