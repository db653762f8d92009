// The selected node: in a narrow panel beside the graph, or in a wide view with the incoming values, the form and the
// result side by side.
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { labelOf, nodesOf } from '../../drawing/drawing.js';
import { onlyNode, useEditor, useStore, type EditorStore } from '../../drawing/editor-store.js';
import { createPane, SidePane } from '../../drawing/side-pane.js';
import { insertText, useLastField } from '../../forms/variable-picker.js';
import { Button } from '../../ui/button.js';
import { useStored, type Stored } from '../../ui/store.js';
import { IncomingValues } from './incoming-values.js';
import { NodePanel } from './node-panel.js';
import './node-view.css';
import { isDialogOpen } from './shortcuts.js';
import { useTest } from './test-run/use-tests.js';
import { TestPane, type TestedWorkflow } from './test-run/test-pane.js';

const incomingPane = createPane('what comes in', [220, 720]);
const resultPane = createPane('result', [260, 960]);

interface View {
  isWide: boolean;
  setIsWide: (isWide: boolean) => void;
}

/**
 * Opens the wide view of a node on a double click, and of the selected node on Enter. Escape closes the view, unless it
 * closes something else.
 */
export function useNodeView(store: EditorStore, graph: RefObject<HTMLElement | null>): View {
  const [isWanted, setIsWide] = useState(false);
  const only = useStored(store, ({ selection, history }) => {
    const id = onlyNode(selection);
    return id !== undefined && nodesOf(history.present).has(id) ? id : undefined;
  });
  const isWide = isWanted && only !== undefined;
  if (isWanted && !isWide) setIsWide(false);
  const pressed = useRef<string>(undefined);
  const press = useEffectEvent(({ detail, target }: MouseEvent) => {
    // Only the first click counts: `detail` is 2 for the second click of a double click.
    if (detail === 1) pressed.current = graph.current?.contains(target as Node) === true ? nodeAt(target) : undefined;
  });
  const openByDoubleClick = useEffectEvent((event: MouseEvent) => {
    const id = pressed.current;
    if (event.defaultPrevented || id === undefined || !nodesOf(store.drawing).has(id)) return;
    event.preventDefault();
    store.select([id]);
    setIsWide(true);
  });
  const openByEnter = useEffectEvent((event: KeyboardEvent) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const isCard = event.target instanceof HTMLElement && event.target.dataset['id'] === only;
    if (event.key !== 'Enter' || !isPlain || !isCard || only === undefined) return;
    event.preventDefault();
    setIsWide(true);
  });
  const closeByEscape = useEffectEvent((event: KeyboardEvent) => {
    if (event.key === 'Escape' && isWide && !event.defaultPrevented && !isDialogOpen()) setIsWide(false);
  });
  useEffect(() => {
    const element = graph.current;
    const double = (event: MouseEvent): void => openByDoubleClick(event);
    const enter = (event: KeyboardEvent): void => openByEnter(event);
    const escape = (event: KeyboardEvent): void => closeByEscape(event);
    const click = (event: MouseEvent): void => press(event);
    addEventListener('click', click, { capture: true });
    // Captured on the window, because the first click opens the panel, which may cover the place of the second click.
    addEventListener('dblclick', double, { capture: true });
    element?.addEventListener('keydown', enter);
    addEventListener('keydown', escape);
    return () => {
      removeEventListener('click', click, { capture: true });
      removeEventListener('dblclick', double, { capture: true });
      element?.removeEventListener('keydown', enter);
      removeEventListener('keydown', escape);
    };
  }, [graph]);
  return { isWide, setIsWide };
}

/** Returns the id of the node whose card holds the target; undefined on its buttons and handles. */
function nodeAt(target: EventTarget | null): string | undefined {
  if (!(target instanceof Element) || target.closest('button, input, textarea, .react-flow__handle')) return undefined;
  return target.closest<HTMLElement>('.react-flow__node')?.dataset['id'];
}

type Part = 'incoming' | 'form' | 'result';

/** On narrow screens one part is shown at a time. */
const PARTS: readonly { part: Part; label: string }[] = [
  { part: 'incoming', label: 'What comes in' },
  { part: 'form', label: 'Settings' },
  { part: 'result', label: 'Result' },
];

interface NodeViewProps {
  workflowId: number;
  projectId: number;
  isChat: boolean;
  tested: Stored<TestedWorkflow>;
  view: View;
}

const NO_LEAVING = (): void => undefined;

export function NodeView({ workflowId, projectId, isChat, tested, view }: NodeViewProps) {
  const { isWide, setIsWide } = view;
  const store = useStore();
  const column = useRef<HTMLDivElement>(null);
  const lastField = useLastField(column, NO_LEAVING);
  const [part, setPart] = useState<Part>('form');
  const testId = useTest(({ last }) => (last?.asked === undefined ? undefined : last.runId));
  const [seenTest, setSeenTest] = useState(testId);
  if (testId !== seenTest) {
    setSeenTest(testId);
    if (testId !== undefined) setPart('result');
  }
  const only = useEditor(({ selection }) => onlyNode(selection));
  const label = useEditor(({ history }) => labelOf(nodesOf(history.present).get(only ?? ''), store.kinds));
  usePlace(column, isWide);
  useFocus(column, isWide);
  const insert = (text: string): void => {
    const field = store.isReadOnly ? undefined : lastField();
    if (field === undefined) return;
    setPart('form');
    insertText(field, text);
  };
  return (
    <div className="node-column" ref={column} data-wide={isWide || undefined} data-part={part}>
      {isWide && (
        <header className="node-view-head">
          <h2>{label}</h2>
          <div className="node-view-parts" role="group" aria-label="Part">
            {PARTS.map((each) => (
              <Button
                key={each.part}
                variant="quiet"
                aria-pressed={each.part === part}
                onClick={() => setPart(each.part)}
              >
                {each.label}
              </Button>
            ))}
          </div>
          <Button aria-keyshortcuts="Escape" onClick={() => setIsWide(false)}>
            Back to the graph
          </Button>
        </header>
      )}
      {isWide && only !== undefined && (
        <SidePane pane={incomingPane} side="left" className="node-view-incoming">
          <IncomingValues key={only} {...{ workflowId, isChat }} nodeId={only} onChoose={insert} />
        </SidePane>
      )}
      <NodePanel {...{ workflowId, projectId, isChat }} onWiden={() => setIsWide(true)} />
      <SidePane pane={resultPane} side="right" className="node-view-result">
        <TestPane tested={tested} isWide={isWide} />
      </SidePane>
    </div>
  );
}

/** Places the wide view over the graph: `--view-top` is the top of the graph's area in pixels. */
function usePlace(column: RefObject<HTMLElement | null>, isWide: boolean): void {
  useLayoutEffect(() => {
    const element = column.current;
    const work = element?.closest<HTMLElement>('.editor-work');
    if (!isWide || !element || !work) return undefined;
    const place = (): void => {
      const { top } = work.getBoundingClientRect();
      element.style.setProperty('--view-top', `${Math.max(0, Math.round(top))}px`);
    };
    place();
    const observer = new ResizeObserver(place);
    observer.observe(work);
    return () => observer.disconnect();
  }, [column, isWide]);
}

/** The graph is hidden behind the view, so the focus moves into the view, and back when it closes. */
function useFocus(column: RefObject<HTMLElement | null>, isWide: boolean): void {
  const before = useRef<HTMLElement>(undefined);
  useEffect(() => {
    const { activeElement } = document;
    if (isWide) {
      before.current = activeElement instanceof HTMLElement ? activeElement : undefined;
      if (column.current?.contains(activeElement) === true) return;
      column.current?.querySelector<HTMLElement>('.node-form input')?.focus({ preventScroll: true });
    } else if (before.current !== undefined) {
      const isLost = activeElement === null || activeElement === document.body || !isShown(activeElement);
      if (isLost || column.current?.contains(activeElement) === true) before.current.focus({ preventScroll: true });
      before.current = undefined;
    }
  }, [column, isWide]);
}

function isShown(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true });
}
