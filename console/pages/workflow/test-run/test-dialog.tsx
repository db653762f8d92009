import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { isZeroDecimal } from '../../../../graph/decimal.js';
import { ServiceError } from '../../../service/api.js';
import { Problem } from '../../../service/problem.js';
import { submitHandler, useRunKey } from '../../../service/queries.js';
import { labelsOf, nodesOf, startOf, typeOf } from '../../../drawing/drawing.js';
import { useEditor, useStore } from '../../../drawing/editor-store.js';
import { ownValue } from '../../../../graph/json.js';
import { asObject } from '../../../ui/json.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { CheckboxField } from '../../../ui/fields.js';
import { Money } from '../../../ui/figures.js';
import { Alert, announce, Note } from '../../../ui/notices.js';
import { Refused } from '../../../parts/run-input/refused.js';
import { useRunInput } from '../../../parts/run-input/run-input-form.js';
import { runFields } from '../../../parts/run-input/run-input.js';
import { useIteration } from './iteration-fields.js';
import type { RequestedTest, Pin } from './test-store.js';
import { useSettled } from '../../../ui/use-settled.js';
import { useTest, useTests } from './use-tests.js';
import {
  effectsOf,
  missingOf,
  MODE_WORDS,
  startTest,
  useEstimate,
  type Estimate,
  type TestRequest,
} from './test-calls.js';

interface TestDialogProps {
  workflowId: number;
  projectId: number;
  pins: readonly Pin[];
  asked: RequestedTest;
}

/** Shows the calls that a test will make, and its maximum cost, before the person starts it. */
export function TestDialog({ workflowId, projectId, pins, asked }: TestDialogProps) {
  const { nodeId, mode } = asked;
  const store = useStore();
  const tests = useTests();
  const drawing = useEditor(({ history }) => history.present);
  const labels = labelsOf(drawing, store.kinds);
  const start = startOf(drawing);
  const [skipsWaits, setSkipsWaits] = useState(false);
  const known = knownInput(asked, start, pins);
  const [reusesKnown, setReusesKnown] = useState(true);
  const {
    input: written,
    values,
    form,
  } = useRunInput({
    fields: runFields(drawing, store.kinds),
    projectId,
    initial: useTest((state) => state.values),
  });
  const iteration = useIteration(drawing, store.kinds, nodeId);
  const { path } = iteration;
  const usesKnown = known !== undefined && reusesKnown;
  const request: TestRequest = {
    mode,
    node: nodeId,
    drawing,
    input: usesKnown ? undefined : asObject(written),
    ...(store.isFromDraft && { from_draft: true }),
    ...(path !== undefined && { path }),
  };
  const estimate = useEstimate(workflowId, { ...request, input: useSettled(request.input) });
  const { keyOf, settle, settleIfRefused } = useRunKey();
  const test = useMutation({
    mutationFn: () => startTest(workflowId, { ...request, skipsWaits }, keyOf([request, skipsWaits])),
    onError: settleIfRefused,
    onSuccess: (runId) => {
      settle();
      announce('The test has started.');
      if (estimate.data !== undefined) tests.confirm(effectsOf(estimate.data));
      tests.begin({ asked, runId, drawing }, usesKnown ? tests.getState().values : values);
    },
  });
  const missing = missingOf(test.error);
  return (
    <Dialog title="Test" holdsText onClose={() => tests.ask(undefined)}>
      <form className="test-form" onSubmit={submitHandler(test)}>
        <p>
          <strong>{MODE_WORDS[mode]}</strong>: {labels.get(nodeId) ?? nodeId}. {SENTENCES[mode]}
        </p>
        {iteration.form}
        {known !== undefined && <CheckboxField label={known} isChecked={reusesKnown} onChange={setReusesKnown} />}
        {!usesKnown && form}
        {mode !== 'node' && (
          <CheckboxField label="Skip waits for a time" isChecked={skipsWaits} onChange={setSkipsWaits} />
        )}
        <Outlook labels={labels} estimate={estimate.data} />
        {estimate.error !== null && (
          <WhyNot error={estimate.error} labels={labels} onRetry={() => void estimate.refetch()} />
        )}
        {missing !== undefined && (
          <Alert>
            <div className="test-missing">
              <p>
                There is no result yet of {listOf(missing.map((id) => labels.get(id) ?? id))}. Run the workflow, pin a
                result, or test up to here.
              </p>
              {mode !== 'up_to' && (
                <Button
                  onClick={() => {
                    test.reset();
                    tests.ask({ nodeId, mode: 'up_to' });
                  }}
                >
                  Up to here
                </Button>
              )}
            </div>
          </Alert>
        )}
        {test.error !== null && missing === undefined && <WhyNot error={test.error} labels={labels} />}
        {/* Disabled while the calls are loading, because their list then moves the button from under the pointer. */}
        <Button
          type="submit"
          variant="primary"
          isBusy={test.isPending}
          disabled={estimate.isPending || !iteration.isValid || (!usesKnown && written === undefined)}
        >
          Start test
        </Button>
      </form>
    </Dialog>
  );
}

const SENTENCES = {
  node: 'It takes what comes before from pins, or from the newest run.',
  up_to: 'Everything that it needs is executed too, except what is pinned.',
  from: 'It and all that follows is executed. What comes before is taken from pins, or from the newest run.',
} as const;

/** Returns the label of the option to reuse an input, or undefined if the person must write one. */
function knownInput(
  { nodeId, mode }: RequestedTest,
  start: string | undefined,
  pins: readonly Pin[],
): string | undefined {
  if (nodeId === start) return undefined;
  if (pins.some((pin) => pin.node_id === start)) return 'Take the pinned input';
  return mode === 'up_to' ? undefined : 'Take the input of the newest run';
}

const MOST_CALLS = 20;

interface OutlookProps {
  labels: ReadonlyMap<string, string>;
  /** Undefined until loaded. */
  estimate: Estimate | undefined;
}

function Outlook({ labels, estimate }: OutlookProps) {
  if (estimate === undefined) return null;
  const { calls, reserved } = estimate;
  return (
    <>
      <Price reserved={reserved} />
      {calls.length === 0 ? (
        <p>It makes no calls.</p>
      ) : (
        <section aria-label="What is called">
          <p>It calls:</p>
          <ul className="test-calls">
            {calls.slice(0, MOST_CALLS).map(({ node_id: id, has_side_effects: hasSideEffects }) => (
              <li key={id}>
                <strong>{labels.get(id) ?? id}</strong> <KindTitle nodeId={id} />
                {hasSideEffects && <span className="test-effects">may change something</span>}
              </li>
            ))}
            {calls.length > MOST_CALLS && <li>and {calls.length - MOST_CALLS} more</li>}
          </ul>
        </section>
      )}
    </>
  );
}

function KindTitle({ nodeId }: { nodeId: string }) {
  const { kinds } = useStore();
  const node = useEditor(({ history }) => nodesOf(history.present).get(nodeId));
  return <span className="test-muted">{node && kinds.get(typeOf(node))?.title}</span>;
}

function Price({ reserved }: { reserved: Estimate['reserved'] }) {
  if (reserved === null) return <Note>The maximum cost is not known.</Note>;
  if (isZeroDecimal(reserved['USD'] ?? '0')) return <p>It costs nothing.</p>;
  return (
    <p>
      It costs at most <Money amount={reserved} />.
    </p>
  );
}

interface WhyNotProps {
  error: unknown;
  labels: ReadonlyMap<string, string>;
  onRetry?: () => void;
}

/** Shows why the service refused the test, by field if the service names fields. */
function WhyNot({ error, labels, onRetry }: WhyNotProps) {
  const data = error instanceof ServiceError ? ownValue(error.body, 'data') : undefined;
  const detail = ownValue(data, 'detail');
  if (error instanceof ServiceError && error.fields?.['node'] !== undefined) {
    return <Alert>The start does not lead to this node yet: link it first.</Alert>;
  }
  if (typeof detail === 'string') return <Alert>{detail}</Alert>;
  if (data !== undefined) return <Refused error={error} labels={labels} />;
  return <Problem error={error} onRetry={onRetry} />;
}

function listOf(names: readonly string[]): ReactNode {
  return names.map((name, at) => (
    <span key={name}>
      {at === 0 ? '' : at === names.length - 1 ? ' and ' : ', '}
      <strong>{name}</strong>
    </span>
  ));
}
