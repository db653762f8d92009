import { useReactFlow } from '@xyflow/react';
import { explain } from '../../app/explain.js';
import { titleOfPath } from '../../forms/schema.js';
import { CARD_WIDTH, HEAD_HEIGHT } from '../../drawing/flow-nodes.js';
import { labelOf, nodesOf, positionOf, typeOf } from '../../drawing/drawing.js';
import type { Problem } from '../../drawing/schema-problems.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { Alert } from '../../ui/notices.js';
import { focusField } from './focus-field.js';
import './problems.css';
import type { Saver } from './saver.js';
import { useProblems } from './use-problems.js';

/** More do not help anybody. */
const MAX_SHOWN = 100;

/** Each entry leads to its field. */
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
