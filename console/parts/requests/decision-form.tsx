import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { parseJsonOrUndefined } from '../../../graph/json-text.js';
import { explain, fieldErrors, mayTryAgain } from '../../service/explain.js';
import { useUser } from '../../service/session.js';
import { useUnsent } from '../../service/unsent.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/fields.js';
import { Alert, announce, Note } from '../../ui/notices.js';
import { toVisibleJson } from '../../ui/visible-json.js';
import { countedSentence, outcomeSentence, tooLateSentence, type Approval, type Verdict } from './approvals.js';
import { decide, readApproval, type Wish } from './request-calls.js';

const MOST_CHARACTERS = 2_000;
const SENTENCES = {
  403: 'Your role in this project, or the rules of this agent, do not allow you to decide. Ask somebody else.',
  404: 'This request is not there any more, or it is not shared with you.',
};

interface Unsent {
  reason: string;
  /** The edited arguments; undefined if the person does not edit them. */
  draft: Draft | undefined;
}

const NOTHING: Unsent = { reason: '', draft: undefined };

interface DecisionFormProps {
  request: Approval;
  /** True while the person's role is loading. */
  disabled: boolean;
  /** Called with the reloaded request if it is still pending after the person's decision. */
  onChange: (request: Approval) => void;
  /** `problem` explains why the person's decision did not count. */
  onDecided: (request: Approval, problem?: string) => void;
}

export function DecisionForm({ request, disabled, onChange, onDecided }: DecisionFormProps) {
  const [{ reason, draft }, setUnsent, forgetUnsent] = useUnsent(request.request_id, NOTHING);
  const setDraft = (next: Draft | undefined): void => setUnsent((before) => ({ ...before, draft: next }));
  const [problem, setProblem] = useState<string>();
  const [note, setNote] = useState<string>();
  const user = useUser();
  const queries = useQueryClient();
  const decision = useMutation({
    mutationFn: async (wish: Wish) => {
      const answer = await decide(request, wish);
      // The answer says neither who has decided nor which arguments the request has now.
      return { answer, now: await readApproval(request.request_id) };
    },
    onMutate: () => {
      setProblem(undefined);
      setNote(undefined);
    },
    onSuccess: ({ answer, now }, { verdict }) => {
      const isCounted = answer.status === 200;
      const refusal = isCounted ? undefined : tooLateSentence(now, verdict, user?.id, answer.data.detail ?? '');
      const isWaiting = now.status === 'pending';
      const sentence = refusal ?? (isWaiting ? countedSentence(now) : outcomeSentence(now, user?.id));
      announce(sentence);
      if (isWaiting) {
        setProblem(refusal);
        if (isCounted) setNote(sentence);
        if (isCounted) setUnsent(() => NOTHING);
        // After a conflict, the article shows the request's new arguments, and the person can send the draft again.
        else setDraft(draft && { ...draft, seenHash: now.arguments_hash });
        onChange(now);
      } else {
        forgetUnsent();
        onDecided(now, refusal);
      }
      void queries.invalidateQueries({ queryKey: ['approvals'] });
    },
  });
  const errors = fieldErrors(decision.error);
  const isOfField = errors['reason'] !== undefined || (draft !== undefined && errors['arguments'] !== undefined);
  const shownProblem = problem ?? (decision.isError && !isOfField ? explain(decision.error, SENTENCES) : undefined);
  const isBusy = (verdict: Verdict): boolean => decision.isPending && decision.variables.verdict === verdict;
  const act = (verdict: Verdict): void => {
    if (decision.isPending) return;
    const wish = { verdict, reason: reason.trim(), seenHash: draft?.seenHash ?? request.arguments_hash };
    if (verdict === 'reject' || draft === undefined) return decision.mutate(wish);
    const edited = readArguments(draft.text);
    if (edited === undefined) return setDraft({ ...draft, problem: 'Write a JSON object.' });
    return decision.mutate({ ...wish, edited });
  };
  return (
    <div className="request-form">
      {draft !== undefined && (
        <ArgumentsField draft={draft} error={draft.problem ?? errors['arguments']} onChange={setDraft} />
      )}
      <TextField
        label="Reason"
        hint="You may leave it empty. The model is told the reason of a rejection."
        error={errors['reason']}
        rows={2}
        maxLength={MOST_CHARACTERS}
        value={reason}
        onChange={(text) => setUnsent((before) => ({ ...before, reason: text }))}
      />
      {note !== undefined && <Note>{note}</Note>}
      {shownProblem !== undefined && (
        <Alert
          onRetry={decision.isError && mayTryAgain(decision.error) ? () => act(decision.variables.verdict) : undefined}
          isRetrying={decision.isPending}
        >
          {shownProblem}
        </Alert>
      )}
      <div className="request-buttons">
        <Button variant="primary" disabled={disabled} isBusy={isBusy('approve')} onClick={() => act('approve')}>
          {draft === undefined ? 'Approve' : 'Approve as edited'}
        </Button>
        <Button variant="danger" disabled={disabled} isBusy={isBusy('reject')} onClick={() => act('reject')}>
          Reject
        </Button>
        <Button disabled={disabled} onClick={() => setDraft(draft === undefined ? toDraft(request) : undefined)}>
          {draft === undefined ? 'Edit and approve' : 'Keep the arguments'}
        </Button>
      </div>
    </div>
  );
}

const ROWS = 8;

interface Draft {
  text: string;
  /** Hash of the request's arguments when the edit began, or after the last conflict. */
  seenHash: string;
  problem?: string;
}

function toDraft(request: Approval): Draft {
  const text = toVisibleJson(request.edited_arguments ?? request.arguments);
  return { text, seenHash: request.arguments_hash };
}

/** Returns undefined if the text is not a JSON object. */
function readArguments(text: string): JsonObject | undefined {
  const value = parseJsonOrUndefined(text);
  return isObject(value) ? value : undefined;
}

interface ArgumentsFieldProps {
  draft: Draft;
  error: string | undefined;
  onChange: (draft: Draft) => void;
}

function ArgumentsField({ draft, error, onChange }: ArgumentsFieldProps) {
  return (
    <TextField
      label="Arguments as JSON"
      hint="The tool gets these instead. Write secrets themselves: ******** stands for one that is not shown."
      error={error}
      rows={ROWS}
      spellCheck={false}
      value={draft.text}
      onChange={(text) => onChange({ text, seenHash: draft.seenHash })}
    />
  );
}
