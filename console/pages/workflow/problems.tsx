import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useReactFlow } from '@xyflow/react';
import { useEffect, useState } from 'react';
import { api, unwrap, type components } from '../../service/api.js';
import { explain } from '../../service/explain.js';
import { labelOf, nodesOf, positionOf, typeOf, type Drawing } from '../../drawing/drawing.js';
import { useEditor, useStore, type EditorStore } from '../../drawing/editor-store.js';
import { CARD_WIDTH, HEAD_HEIGHT } from '../../drawing/flow-nodes.js';
import type { Problem } from '../../drawing/problem.js';
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
  const isEmpty = useEditor(({ history }) => nodesOf(history.present).size === 0);
  const { error } = check;
  return (
    <section className="problems" aria-label="Problems" aria-busy={check.isChecking}>
      <h2 className="problems-heading">Problems{problems.length > 0 && ` (${problems.length})`}</h2>
      {error !== null && error !== undefined && (
        <Alert onRetry={check.retry} isRetrying={check.isChecking}>
          {explain(error)}
        </Alert>
      )}
      {problems.length === 0 && (error === null || error === undefined) && !check.isChecking && (
        <p className="field-hint">{isEmpty ? 'It has no nodes yet.' : 'This workflow can run.'}</p>
      )}
      <ul className="problems-list">
        {problems.slice(0, MAX_SHOWN).map((problem, at) => (
          <li key={at}>
            <Entry problem={problem} />
          </li>
        ))}
      </ul>
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
  /** True while the check of the present drawing is pending. */
  isChecking: boolean;
  error: unknown;
  retry: () => void;
}

const DELAY_MS = 300;

/** Updates the problems in the store, which are those that the service finds in the present drawing. */
function useProblems(store: EditorStore, saver: Saver): Check {
  const isDirty = useStored(store, (state) => state.isDirty);
  const present = useStored(store, (state) => state.history.present);
  const { id } = useStored(saver, (state) => state.workflow);
  const etag = useStored(saver, (state) => state.etag);
  const settled = useDelayed(present) === present;
  // A person who has not begun has made no mistake.
  const isEmpty = nodesOf(present).size === 0;
  const stored = useCheck({ id, etag }, !isDirty && !isEmpty);
  const unsaved = useUnsavedCheck(id, present, isDirty && settled && !isEmpty);
  const check = isDirty ? unsaved : stored;
  const { data } = check;
  useEffect(() => {
    if (isEmpty) store.setProblems([]);
    else if (data !== undefined) store.setProblems(toProblems(data));
  }, [store, data, isEmpty]);
  return {
    isChecking: check.isFetching || (isDirty && !settled),
    error: check.error,
    retry: () => void check.refetch(),
  };
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

/** Loads the service's check of a drawing that is not saved. Each change of the drawing makes another object of it. */
function useUnsavedCheck(
  id: number,
  drawing: Drawing,
  isWanted: boolean,
): UseQueryResult<components['schemas']['WorkflowCheck']> {
  return useQuery({
    queryKey: ['workflow', id, 'check', numberOf(drawing)],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST('/api/v1/workflows/{id}/check_workflow/', { params: { path: { id } }, body: { drawing }, signal }),
      ),
    enabled: isWanted,
    staleTime: Infinity,
    gcTime: 0,
  });
}

const numbers = new WeakMap<Drawing, number>();
let lastNumber = 0;

function numberOf(drawing: Drawing): number {
  const number = numbers.get(drawing) ?? (lastNumber += 1);
  numbers.set(drawing, number);
  return number;
}

function toProblems({ errors, warnings }: components['schemas']['WorkflowCheck']): Problem[] {
  return [
    ...errors.map(({ node_id: nodeId, path, message }): Problem => ({
      nodeId,
      path,
      message: toWords(message),
      severity: 'error',
    })),
    ...warnings.map(({ node_id: nodeId, path = '', message }): Problem => ({
      nodeId,
      path,
      message,
      severity: 'warning',
    })),
  ];
}

/** Messages of the service whose words are made for programs. */
const WORDS: Readonly<Record<string, string>> = {
  'Field required': 'Fill this in.',
  'String should have at least 1 character': 'Fill this in.',
  'List should have at least 1 item after validation, not 0': 'Add at least one.',
};

function toWords(message: string): string {
  return Object.hasOwn(WORDS, message) ? WORDS[message]! : message;
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
