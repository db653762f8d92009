import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { startOf } from '../../../drawing/drawing.js';
import { useStore } from '../../../drawing/editor-store.js';
import { runFields, toInput } from '../../../parts/run-input/run-input.js';
import { ServiceError } from '../../../service/api.js';
import { Problem } from '../../../service/problem.js';
import { useRunKey } from '../../../service/queries.js';
import { Button } from '../../../ui/button.js';
import { announce } from '../../../ui/notices.js';
import { isDialogOpen } from '../shortcuts.js';
import { effectsOf, estimateTest, missingOf, startTest, type TestRequest } from './test-calls.js';
import type { TestMode } from './test-store.js';
import { useTests } from './use-tests.js';

interface TryButtonProps {
  workflowId: number;
  nodeId: string;
  /** True in a dialog, where the shortcut then works. Other buttons ignore the shortcut while a dialog is open. */
  isInDialog?: boolean;
}

/**
 * Tests the selected node, with one click or with Ctrl+Shift+Enter. Executes earlier nodes, too, if results that the
 * node reads are missing. Opens the dialog `Test` only if a call that may change something is not confirmed yet, an
 * input is missing, or the service refuses the test as invalid (400). Other errors are shown below the button.
 */
export function TryButton({ workflowId, nodeId, isInDialog = false }: TryButtonProps) {
  const { isReadOnly } = useStore();
  const attempt = useTry(workflowId, nodeId);
  const tryByKey = useEffectEvent((event: KeyboardEvent) => {
    const isKey = event.key === 'Enter' && event.shiftKey && (event.ctrlKey || event.metaKey);
    if (!isKey || isReadOnly || attempt.isPending || isDialogOpen() !== isInDialog) return;
    event.preventDefault();
    // Otherwise React Flow would deselect the node.
    event.stopPropagation();
    attempt.mutate();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => tryByKey(event);
    addEventListener('keydown', listen, { capture: true });
    return () => removeEventListener('keydown', listen, { capture: true });
  }, []);
  if (isReadOnly) return null;
  return (
    <>
      <Button
        variant="primary"
        isBusy={attempt.isPending}
        aria-keyshortcuts="Control+Shift+Enter"
        title="Ctrl+Shift+Enter"
        onClick={() => attempt.mutate()}
      >
        Try
      </Button>
      {!isInvalid(attempt.error) && <Problem error={attempt.error} />}
    </>
  );
}

function useTry(workflowId: number, nodeId: string) {
  const store = useStore();
  const tests = useTests();
  const { keyOf, settle, settleIfRefused } = useRunKey();

  /** Starts the test. Opens the dialog instead if a call that may change something is not confirmed yet. */
  const start = async (mode: TestMode, input: TestRequest['input']): Promise<void> => {
    const { drawing } = store;
    const request: TestRequest = {
      mode,
      node: nodeId,
      drawing,
      input,
      ...(store.isFromDraft && { from_draft: true }),
    };
    const effects = effectsOf(await estimateTest(workflowId, request));
    if (effects.some((id) => !tests.isConfirmed(id))) return tests.ask({ nodeId, mode });
    const runId = await startTest(workflowId, { ...request, skipsWaits: false }, keyOf([request, false]));
    settle();
    announce('The test has started.');
    tests.begin({ asked: { nodeId, mode }, runId, drawing }, tests.getState().values);
  };

  /**
   * Starts the test with the pin of the trigger, else with the values of earlier tests and the defaults of the fields.
   * Opens the dialog instead if a required field has no value.
   */
  const startWithInput = (mode: TestMode): Promise<void> | void => {
    const fields = runFields(store.drawing, store.kinds);
    const { values, pins } = tests.getState();
    const first = startOf(store.drawing);
    if (nodeId !== first && pins.some((pin) => pin.node_id === first)) return start(mode, undefined);
    const isMissing = fields.some(({ id, start: text, isRequired }) => isRequired && (values.get(id) ?? text) === '');
    if (isMissing) return tests.ask({ nodeId, mode });
    return start(mode, toInput(fields, values));
  };

  const attempt = async (mode: 'node' | 'up_to'): Promise<void> => {
    try {
      if (mode === 'up_to' || nodeId === startOf(store.drawing)) await startWithInput(mode);
      else await start(mode, undefined);
    } catch (error) {
      if (mode === 'node' && missingOf(error) !== undefined) return attempt('up_to');
      // The dialog estimates a test of the same mode, and shows by field why the service refuses it.
      if (isInvalid(error)) tests.ask({ nodeId, mode });
      throw error;
    }
  };

  return useMutation({ mutationFn: () => attempt('node'), onError: settleIfRefused });
}

function isInvalid(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 400;
}
