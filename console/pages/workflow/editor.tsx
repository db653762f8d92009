import { ReactFlowProvider } from '@xyflow/react';
import { useRef, useState, useSyncExternalStore } from 'react';
import { useLeaveGuard } from '../../app/leave-guard.js';
import { Canvas, Palette } from '../../drawing/canvas.js';
import { EditorContext, type EditorStore } from '../../drawing/editor-store.js';
import { useTitle } from '../../ui/page-header.js';
import { EditorDialogs, type OpenDialog } from './editor-dialogs.js';
import './editor.css';
import { NodePanel } from './node-panel.js';
import { Problems } from './problems.js';
import type { Saver } from './saver.js';
import { Toolbar } from './toolbar.js';
import { useClipboard } from './use-clipboard.js';
import { useShortcuts } from './use-shortcuts.js';

interface EditorProps {
  store: EditorStore;
  saver: Saver;
}

export function Editor({ store, saver }: EditorProps) {
  return (
    <EditorContext value={store}>
      <ReactFlowProvider>
        <Workbench store={store} saver={saver} />
      </ReactFlowProvider>
    </EditorContext>
  );
}

function Workbench({ store, saver }: EditorProps) {
  const [dialog, setDialog] = useState<OpenDialog>();
  const graph = useRef<HTMLElement>(null);
  const { title, project } = useSyncExternalStore(saver.subscribe, () => saver.getState().workflow);
  const isDirty = useSyncExternalStore(store.subscribe, () => store.getState().isDirty);
  useTitle(title);
  useLeaveGuard(isDirty);
  useShortcuts(store, saver, graph, () => setDialog('run'));
  useClipboard(store, graph);
  return (
    <div className="page-full editor">
      <Toolbar saver={saver} onOpen={setDialog} />
      <div className="editor-work">
        {!store.isReadOnly && <Palette />}
        <section className="editor-graph" aria-label="Graph" ref={graph}>
          <Canvas />
        </section>
        <NodePanel projectId={project} />
        <Problems saver={saver} />
      </div>
      <EditorDialogs saver={saver} open={dialog} onClose={() => setDialog(undefined)} />
    </div>
  );
}
