import { useQuery } from '@tanstack/react-query';
import { ReactFlowProvider } from '@xyflow/react';
import { lazy, Suspense, useRef, useState } from 'react';
import { api, unwrap } from '../../service/api.js';
import { isNotFound } from '../../service/explain.js';
import { useLeaveGuard } from '../../service/leave-guard.js';
import { ErrorBoundary, Problem } from '../../service/problem.js';
import { ProjectContext } from '../../drawing/action-kind.js';
import { Canvas } from '../../drawing/canvas.js';
import { newId } from '../../drawing/change-drawing.js';
import { byType, nodesOf, type NodeKind } from '../../drawing/drawing.js';
import { EditorContext, EditorStore } from '../../drawing/editor-store.js';
import { withOnlyModel } from '../../drawing/only-model.js';
import { Palette } from '../../drawing/palette.js';
import { AddService } from '../../parts/services/add-service.js';
import { Loading } from '../../ui/notices.js';
import { NotFound, PageHeader, useTitle } from '../../ui/page-header.js';
import { useStored } from '../../ui/store.js';
import { TestContext, useTestStore } from './test-run/use-tests.js';
import { CanvasMenu, useCanvasMenus } from './canvas-menus.js';
import { EditorDialogs, type OpenDialog } from './dialogs.js';
import './editor.css';
import { Foot } from './foot.js';
import { modelsQuery } from '../../service/models.js';
import { NodePane, widthOfNodePane } from './node-pane.js';
import { NodeView, useNodeView } from './node-view.js';
import { PastedFileNotices, usePastedFile } from './pasted-file.js';
import { readWorkflow, Saver, type WorkflowRecord } from './saver.js';
import { useClipboard, useShortcuts } from './shortcuts.js';
import { StartRegion } from './start-region.js';
import './side-chat.css';
import { Toolbar, type Side } from './toolbar.js';
import { UnsavedWork, useDraftKeeper } from './unsaved-work.js';

const ChatPreview = lazy(() => import('./chat-preview.js').then((part) => ({ default: part.ChatPreview })));
const AssistantPanel = lazy(() =>
  import('./assistant/assistant-panel.js').then((part) => ({ default: part.AssistantPanel })),
);
const StartCards = lazy(() => import('./start-cards.js').then((part) => ({ default: part.StartCards })));

/** Height in pixels for three cards of `StartCards`, which say how runs of the workflow start. */
const START_CARDS_HEIGHT = 140;

/**
 * The editor of a workflow. Reads the workflow only once, so that saves by others do not change what a person edits.
 */
export function WorkflowPage({ workflowId }: { workflowId: number }) {
  // Each opening has a key of its own. Otherwise a page that is opened again at once would begin with a cached response
  // that its own save has made stale.
  const [opening] = useState(newId);
  const workflow = useQuery({
    queryKey: ['workflow', workflowId, 'editor', opening],
    queryFn: ({ signal }) => readWorkflow(workflowId, signal),
    staleTime: Infinity,
    gcTime: 0,
  });
  const kinds = useQuery({
    queryKey: ['node-kinds'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/workflows/get_nodes/', { signal })),
    staleTime: Infinity,
  });
  // Models are only preset in new nodes, so the editor also opens if loading them fails.
  const models = useQuery(modelsQuery);
  const error = workflow.error ?? kinds.error;
  if (isNotFound(workflow.error)) return <NotFound />;
  if (error !== null && (workflow.data === undefined || kinds.data === undefined)) {
    const retry = (): void => {
      if (workflow.isError) void workflow.refetch();
      if (kinds.isError) void kinds.refetch();
    };
    return (
      <>
        <PageHeader title="Workflow" />
        <Problem error={error} onRetry={retry} isRetrying={workflow.isFetching || kinds.isFetching} />
      </>
    );
  }
  if (workflow.data === undefined || kinds.data === undefined || models.isPending)
    return <Loading label="Loading the workflow" />;
  return <Opened record={workflow.data} kinds={withOnlyModel(kinds.data, models.data ?? [])} />;
}

function Opened({ record, kinds }: { record: WorkflowRecord; kinds: readonly NodeKind[] }) {
  const [{ store, saver }] = useState(() => {
    const { data, can_edit: canEdit } = record.workflow;
    const made = new EditorStore(data, byType(kinds), !canEdit);
    // Pages of runs link here with the id of a node.
    const node = new URLSearchParams(location.search).get('node');
    if (node !== null && nodesOf(made.drawing).has(node)) made.select([node]);
    return { store: made, saver: new Saver(made, record) };
  });
  return <Editor store={store} saver={saver} />;
}

interface EditorProps {
  store: EditorStore;
  saver: Saver;
}

function Editor({ store, saver }: EditorProps) {
  const projectId = useStored(saver, (state) => state.workflow.project);
  return (
    <EditorContext value={store}>
      <ProjectContext value={projectId}>
        <ReactFlowProvider>
          <Workbench store={store} saver={saver} />
        </ReactFlowProvider>
      </ProjectContext>
    </EditorContext>
  );
}

function Workbench({ store, saver }: EditorProps) {
  const [dialog, setDialog] = useState<OpenDialog>();
  const [side, setSide] = useState<Side>();
  const closeSide = (): void => setSide(undefined);
  const graph = useRef<HTMLElement>(null);
  const { id, title, project, is_chat: isChat } = useStored(saver, (state) => state.workflow);
  const isDirty = useStored(store, (state) => state.isDirty);
  useTitle(title);
  useLeaveGuard(isDirty, saver.save);
  const menus = useCanvasMenus();
  const keeper = useDraftKeeper(store, saver);
  useShortcuts(store, saver, graph, setDialog, menus);
  const pasted = usePastedFile(saver);
  useClipboard(store, graph, pasted.take);
  const view = useNodeView(store, graph);
  return (
    <TestContext value={useTestStore(id)}>
      <div className="page-full editor">
        <Toolbar saver={saver} onOpen={setDialog} side={side} onSide={setSide} />
        {keeper !== undefined && <UnsavedWork saver={saver} keeper={keeper} />}
        <PastedFileNotices {...pasted} />
        <div className="editor-work">
          {!store.isReadOnly && (
            <Palette>
              <AddService projectId={project} />
            </Palette>
          )}
          <section className="editor-graph" aria-label="Graph" ref={graph}>
            <Canvas events={menus} headroom={START_CARDS_HEIGHT} reserved={widthOfNodePane()}>
              <ErrorBoundary>
                <Suspense>
                  <StartCards saver={saver} onRun={() => setDialog('run')} />
                </Suspense>
              </ErrorBoundary>
            </Canvas>
            <StartRegion saver={saver} onChat={(isOpen) => setSide(isOpen ? 'Chat preview' : undefined)} />
          </section>
          <CanvasMenu menus={menus} />
          <Foot
            saver={saver}
            isAssistantOpen={side === 'Assistant'}
            onAssistant={() => setSide(side === 'Assistant' ? undefined : 'Assistant')}
          />
          <NodePane>
            <NodeView workflowId={id} projectId={project} isChat={isChat} tested={saver} view={view} />
          </NodePane>
        </div>
        {side !== undefined && (
          <ErrorBoundary key={side}>
            <Suspense fallback={<section className="side-chat" aria-busy="true" aria-label={side} />}>
              {side === 'Chat preview' && <ChatPreview saver={saver} onClose={closeSide} />}
              {side === 'Assistant' && keeper !== undefined && (
                <AssistantPanel saver={saver} keeper={keeper} onClose={closeSide} />
              )}
            </Suspense>
          </ErrorBoundary>
        )}
        <EditorDialogs saver={saver} open={dialog} onClose={() => setDialog(undefined)} />
      </div>
    </TestContext>
  );
}
