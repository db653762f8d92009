import { useMutation } from '@tanstack/react-query';
import { api, unwrap } from '../../service/api.js';
import { explain } from '../../service/explain.js';
import { tidyUp } from '../../drawing/change-drawing.js';
import { onlyNode, useEditor, useStore } from '../../drawing/editor-store.js';
import { Button } from '../../ui/button.js';
import { download } from '../../ui/download.js';
import { Menu, type MenuItem } from '../../ui/menu.js';
import { Alert } from '../../ui/notices.js';
import { useStored } from '../../ui/store.js';
import { TestMenu } from './test-run/test-menu.js';
import type { OpenDialog } from './dialogs.js';
import { saveAndAnnounce, type Saver } from './saver.js';
import { cutText } from '../../../graph/cut-text.js';

interface ToolbarProps {
  saver: Saver;
  onOpen: (dialog: OpenDialog) => void;
  /** The conversation beside the canvas. */
  side: Side | undefined;
  onSide: (side: Side | undefined) => void;
}

export type Side = 'Chat preview' | 'Assistant';

export function Toolbar({ saver, onOpen, side, onSide }: ToolbarProps) {
  const store = useStore();
  const { workflow, isSaving, error } = useStored(saver, (state) => state);
  const isDirty = useEditor((state) => state.isDirty);
  const only = useEditor((state) => onlyNode(state.selection));
  const save = (): void => void saveAndAnnounce(store, saver);
  const exporting = useMutation({
    mutationFn: async () => {
      // The service exports the stored workflow, so unsaved changes are saved first. A failed save shows its own error.
      if (store.isReadOnly || (await saver.save())) await exportWorkflow(workflow.id);
    },
  });
  const tidy = (): void => store.change(tidyUp(store.drawing, store.kinds));
  const changes: MenuItem[] = store.isReadOnly
    ? []
    : [
        { label: 'Rename', onSelect: () => onOpen('rename') },
        { label: 'Duplicate', onSelect: () => onOpen('duplicate') },
        { label: 'Limit the cost of runs', onSelect: () => onOpen('limit') },
        { label: 'Node that answers', onSelect: () => onOpen('answer') },
      ];
  const mayPublish = workflow.role === 'owner' || workflow.role === 'admin';
  return (
    <>
      <div className="editor-toolbar" role="toolbar" aria-label="Workflow" data-commands>
        <h1 className="editor-title" title={workflow.title}>
          {workflow.title}
        </h1>
        <span className="editor-state">{stateOf(store.isReadOnly, isDirty)}</span>
        {!store.isReadOnly && <Steps />}
        {!store.isReadOnly && (
          <Button isBusy={isSaving} aria-keyshortcuts="Control+S" onClick={save}>
            Save
          </Button>
        )}
        <TestMenu nodeId={only} variant="quiet" />
        {!store.isReadOnly && (
          <Button variant="primary" aria-keyshortcuts="Control+Enter" onClick={() => onOpen('run')}>
            Run
          </Button>
        )}
        {!store.isReadOnly && workflow.is_chat && (
          <Button
            variant="quiet"
            aria-expanded={side === 'Chat preview'}
            onClick={() => onSide(side === 'Chat preview' ? undefined : 'Chat preview')}
          >
            Chat preview
          </Button>
        )}
        <Menu
          label="More"
          items={[
            !store.isReadOnly && { label: 'Tidy up', onSelect: tidy },
            { label: 'Versions', onSelect: () => onOpen('versions') },
            { label: 'Starts by itself', to: `/workflows/${workflow.id}/starts` },
            { label: 'Export', onSelect: () => exporting.mutate() },
            { label: 'Cases', to: `/workflows/${workflow.id}/cases` },
            workflow.is_chat && { label: 'Chat', to: `/workflows/${workflow.id}/chat` },
            mayPublish && { label: 'Publish', onSelect: () => onOpen('publish') },
            ...changes,
            { label: 'Keys', onSelect: () => onOpen('keys') },
            !store.isReadOnly && { label: 'Delete workflow', onSelect: () => onOpen('delete'), isDangerous: true },
          ].filter((item) => item !== false)}
        />
      </div>
      {error !== undefined && (
        <div className="editor-alerts">
          <Alert onRetry={save} isRetrying={isSaving}>
            The workflow is not saved. {explain(error)}
          </Alert>
        </div>
      )}
      {exporting.error !== null && (
        <div className="editor-alerts">
          <Alert onRetry={() => exporting.mutate()} isRetrying={exporting.isPending}>
            The workflow is not exported. {explain(exporting.error)}
          </Alert>
        </div>
      )}
    </>
  );
}

function Steps() {
  const store = useStore();
  const hasPast = useEditor(({ history }) => history.past.length > 0);
  const hasFuture = useEditor(({ history }) => history.future.length > 0);
  return (
    <>
      <Button variant="quiet" disabled={!hasPast} aria-keyshortcuts="Control+Z" onClick={store.undo}>
        Undo
      </Button>
      <Button variant="quiet" disabled={!hasFuture} aria-keyshortcuts="Control+Shift+Z" onClick={store.redo}>
        Redo
      </Button>
    </>
  );
}

function stateOf(isReadOnly: boolean, isDirty: boolean): string {
  if (isReadOnly) return 'You may look at this workflow, but not change it';
  return isDirty ? 'Unsaved changes' : 'All changes saved';
}

/** Downloads the workflow as a file. The service has masked its secrets. */
async function exportWorkflow(id: number): Promise<void> {
  const exported = await unwrap(api.GET('/api/v1/workflows/{id}/export/', { params: { path: { id } } }));
  download(`${toFileName(exported.title)}.json`, `${JSON.stringify(exported, null, 2)}\n`, 'application/json');
}

function toFileName(title: string): string {
  const name = title.replace(/[^\p{L}\p{N} _-]+/gu, '').trim();
  return name === '' ? 'workflow' : cutText(name, 80);
}
