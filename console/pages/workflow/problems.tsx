import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useReactFlow } from '@xyflow/react';
import { useEffect, useState } from 'react';
import { api, unwrap, type components } from '../../service/api.js';
import { explain } from '../../service/explain.js';
import { labelOf, nodesOf, positionOf, typeOf } from '../../drawing/drawing.js';
import { useEditor, useStore, type EditorStore } from '../../drawing/editor-store.js';
import { CARD_WIDTH, HEAD_HEIGHT } from '../../drawing/flow-nodes.js';
import { schemaProblems, type Problem } from '../../drawing/schema-problems.js';
import { titleOfPath } from '../../forms/schema.js';
import { Alert } from '../../ui/notices.js';
import { useStored } from '../../ui/store.js';
import './editor.css';
import type { Saver } from './saver.js';

/** A longer list would not help anybody. */
const MAX_SHOWN = 100;

/** A click on an entry focuses its field. */
export function Problems({ saver }: { saver: Saver }) {
  const check = useProblems(useStore(), saver);
  const problems = useEditor((state) => state.problems);
  const isDirty = useEditor((state) => state.isDirty);
  const { error } = check;
  return (
    <section className="problems" aria-label="Problems" aria-busy={check.isChecking}>
      <h2 className="problems-heading">Problems{problems.length > 0 && ` (${problems.length})`}</h2>
      {error !== null && error !== undefined && (
        <Alert onRetry={check.retry} isRetrying={check.isChecking}>
          {explain(error)}
        </Alert>
      )}
      {problems.length === 0 && (error === null || error === undefined) && (
        <p className="field-hint">{isDirty ? 'Nothing is missing.' : 'This workflow can run.'}</p>
      )}
      <ul className="problems-list">
        {problems.slice(0, MAX_SHOWN).map((problem, at) => (
          <li key={at}>
            <Entry problem={problem} />
          </li>
        ))}
      </ul>
      {isDirty && <p className="field-hint">Unsaved changes are looked at in part; save to check everything.</p>}
    </section>
  );
}

function Entry({ problem }: { problem: Problem }) {
  const store = useStore();
  const flow = useReactFlow();
  const { nodeId, path, message, severity } = problem;
  const node = nodeId === null ? undefined : nodesOf(store.drawing).get(nodeId);
  const field = node === undefined ? '' : titleOfPath(store.kinds.get(typeOf(node))?.schema, path);
  const where = [node && labelOf(node, store.kinds), field].filter((part) => part !== undefined && part !== '');
  const lead = (): void => {
    if (node === undefined) return;
    store.select([node.id]);
    const { x, y } = positionOf(node);
    void flow.setCenter(x + CARD_WIDTH / 2, y + HEAD_HEIGHT / 2, {
      zoom: Math.max(flow.getZoom(), 0.6),
      duration: 200,
    });
    focusField(path);
  };
  return (
    <button
      type="button"
      className="problems-entry"
      data-severity={severity}
      onClick={lead}
      disabled={node === undefined}
    >
      <span className="problems-severity">{severity === 'error' ? 'Error' : 'Warning'}</span>
      <span>
        {where.length > 0 && <strong>{where.join(': ')} – </strong>}
        {message}
      </span>
    </button>
  );
}

interface Check {
  /** True while the check of the last saved drawing is pending. */
  isChecking: boolean;
  error: unknown;
  retry: () => void;
}

const DELAY_MS = 300;

/**
 * Updates the problems in the store. The service checks saved drawings, because `check_workflow` reads the stored one.
 * The schemas of the kinds check unsaved changes.
 */
function useProblems(store: EditorStore, saver: Saver): Check {
  const isDirty = useStored(store, (state) => state.isDirty);
  const present = useStored(store, (state) => state.history.present);
  const { id } = useStored(saver, (state) => state.workflow);
  const etag = useStored(saver, (state) => state.etag);
  const drawing = useDelayed(present);
  const check = useCheck({ id, etag }, !isDirty);
  const { data } = check;
  useEffect(() => {
    if (!isDirty && data !== undefined) store.setProblems(toProblems(data));
  }, [store, isDirty, data]);
  useEffect(() => {
    // Checks only the present drawing. After a first node was added, a check of the delayed drawing would report that
    // there are no nodes.
    if (isDirty && drawing === present) store.setProblems(schemaProblems(drawing, store.kinds));
  }, [store, isDirty, drawing, present]);
  return { isChecking: check.isFetching, error: isDirty ? null : check.error, retry: () => void check.refetch() };
}

/** Loads the service's check of the saved drawing. */
export function useCheck(
  { id, etag }: { id: number; etag: string },
  isWanted: boolean,
): UseQueryResult<components['schemas']['WorkflowCheck']> {
  return useQuery({
    queryKey: ['workflow', id, 'check', etag],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/workflows/{id}/check_workflow/', { params: { path: { id } }, signal })),
    enabled: isWanted,
    staleTime: Infinity,
  });
}

function toProblems({ errors, warnings }: components['schemas']['WorkflowCheck']): Problem[] {
  return [
    ...errors.map(({ node_id: nodeId, path, message }): Problem => ({ nodeId, path, message, severity: 'error' })),
    ...warnings.map(({ node_id: nodeId, path = '', message }): Problem => ({
      nodeId,
      path,
      message,
      severity: 'warning',
    })),
  ];
}

/** Returns the value after it was stable for `DELAY_MS`. */
function useDelayed<T>(value: T): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), DELAY_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}

/** Opens the `details` around the control, because hidden controls cannot receive focus. */
function openAround(control: HTMLElement): void {
  for (let around = control.closest('details'); around; around = around.parentElement?.closest('details') ?? null) {
    around.open = true;
  }
}

const CONTROLS = 'input:not([type="hidden"]), textarea, select, [contenteditable="true"]';

/** Focuses the field at a path in the region `Node`, or its nearest ancestor: `messages.0` for `messages.0.x`. */
function focusField(path: string): void {
  // Waits until the form of the newly selected node is rendered.
  setTimeout(() => {
    const panel = document.querySelector('.editor-node');
    const parts = path === '' ? [] : path.split('.');
    for (let length = parts.length; length > 0; length -= 1) {
      const name = CSS.escape(parts.slice(0, length).join('.'));
      const control = panel?.querySelector<HTMLElement>(`[data-path="${name}"] :is(${CONTROLS})`);
      if (control) {
        openAround(control);
        control.focus();
        control.scrollIntoView({ block: 'center' });
        return;
      }
    }
    panel?.querySelector<HTMLElement>(CONTROLS)?.focus();
  });
}
