import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { explain } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { createWorkflow } from './create-workflow.js';
import { parseExported } from './parse-exported.js';
import { projectToWriteTo } from './use-projects.js';

interface ImportButtonProps {
  /** The id of the project that the list shows; empty: all. */
  project: string;
  onError: (sentence: string | undefined) => void;
}

/** Far above any drawing that can run, and below what the service takes. */
const MAX_BYTES = 9_000_000;

/** Reads a file as the editor's `Export` writes it, and makes a workflow of it. */
export function ImportButton({ project, onError }: ImportButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setIsBusy] = useState(false);
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const take = async (file: File): Promise<void> => {
    onError(undefined);
    setIsBusy(true);
    try {
      const exported = file.size > MAX_BYTES ? undefined : parseExported(await file.text());
      if (exported === undefined) {
        onError(`“${file.name}” is not a workflow that was exported here.`);
        return;
      }
      const title = exported.title ?? file.name.replace(/\.json$/i, '');
      const id = await createWorkflow(await projectToWriteTo(project), title, exported.data);
      void queries.invalidateQueries({ queryKey: ['workflows'] });
      void queries.invalidateQueries({ queryKey: ['projects'] });
      navigate(`/workflows/${id}`);
    } catch (error) {
      onError(`“${file.name}” was not imported. ${explain(error)}`);
    } finally {
      setIsBusy(false);
    }
  };
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
          if (file !== undefined) void take(file);
        }}
      />
    </>
  );
}
