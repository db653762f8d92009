import { useReactFlow } from '@xyflow/react';
import { explain } from '../../service/explain.js';
import { labelOf, nodesOf, typeOf } from '../../drawing/drawing.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { centre } from '../../drawing/find-node.js';
import type { Problem } from '../../drawing/problem.js';
import { focusField } from '../../forms/focus.js';
import { titleOfPath } from '../../forms/schema.js';
import { RemarkActions } from './remark-actions.js';
import { Alert } from '../../ui/notices.js';
import type { Check } from './check.js';
import { Drawer } from './drawer.js';

/** A longer list would not help anybody. */
const MAX_SHOWN = 100;

/** A click on an entry focuses its field. */
export function Problems({ check, onClose }: { check: Check; onClose: () => void }) {
  const problems = useEditor((state) => state.problems);
  const isEmpty = useEditor(({ history }) => nodesOf(history.present).size === 0);
  const { error } = check;
  const hasFailed = error !== null && error !== undefined;
  return (
    <Drawer name="Problems" isBusy={check.isChecking} onClose={onClose}>
      {hasFailed && (
        <Alert onRetry={check.retry} isRetrying={check.isChecking}>
          {explain(error)}
        </Alert>
      )}
      {problems.length === 0 && !hasFailed && !check.isChecking && (
        <p className="field-hint">
          {isEmpty
            ? 'Nothing to check yet: begin with one of the starters, or add a trigger from the palette.'
            : 'This workflow can run.'}
        </p>
      )}
      <ul className="problems-list">
        {problems.slice(0, MAX_SHOWN).map((problem, at) => (
          <li key={at}>
            <Entry problem={problem} />
          </li>
        ))}
      </ul>
    </Drawer>
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
    centre(flow, node);
    focusField(path);
  };
  return (
    <>
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
      <RemarkActions problem={problem} onLead={lead} />
    </>
  );
}
