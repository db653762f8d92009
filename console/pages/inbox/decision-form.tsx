import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { explain, fieldErrors } from '../../app/explain.js';
import { useUser } from '../../app/use-session.js';
import { Alert } from '../../ui/alert.js';
import { announce } from '../../ui/announce.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/text-field.js';
import { decide, readApproval } from './approval.js';
import type { Approval, Verdict } from './approval-types.js';
import { outcomeSentence, tooLateSentence } from './outcome-sentence.js';

const MOST_CHARACTERS = 2_000;
const SENTENCES = {
  403: 'Your role in this project does not allow deciding. Ask an editor, an admin or an owner.',
  404: 'This request is not there any more, or it is not shared with you.',
};

interface DecisionFormProps {
  request: Approval;
  /** Whether the person's role is still being asked for. */
  disabled: boolean;
  /** `problem`: why the person's decision did not count. */
  onDecided: (request: Approval, problem?: string) => void;
}

export function DecisionForm({ request, disabled, onDecided }: DecisionFormProps) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<string>();
  const user = useUser();
  const queries = useQueryClient();
  const decision = useMutation({
    mutationFn: async (verdict: Verdict) => {
      const answer = await decide(request, verdict, reason.trim());
      // Who has decided, and when, is what the service says: it may have been somebody else.
      return { verdict, answer, now: await readApproval(request.request_id) };
    },
    onMutate: () => setProblem(undefined),
    onSuccess: ({ verdict, answer, now }) => {
      const said =
        answer.status === 200 ? undefined : tooLateSentence(now, verdict, user?.id, answer.data.detail ?? '');
      announce(said ?? outcomeSentence(now, user?.id));
      if (now.status === 'pending') setProblem(said);
      else onDecided(now, said);
      void queries.invalidateQueries({ queryKey: ['approvals'] });
    },
  });
  const said = problem ?? (decision.isError ? explain(decision.error, SENTENCES) : undefined);
  const errors = fieldErrors(decision.error);
  const isBusy = (verdict: Verdict): boolean => decision.isPending && decision.variables === verdict;
  const act = (verdict: Verdict): void => {
    if (!decision.isPending) decision.mutate(verdict);
  };
  return (
    <div className="request-form">
      <TextField
        label="Reason"
        hint="You may leave it empty. The model is told the reason of a rejection."
        error={errors['reason']}
        rows={2}
        maxLength={MOST_CHARACTERS}
        value={reason}
        onChange={setReason}
      />
      {said !== undefined && errors['reason'] === undefined && (
        <Alert onRetry={decision.isError ? () => act(decision.variables) : undefined} isRetrying={decision.isPending}>
          {said}
        </Alert>
      )}
      <div className="request-buttons">
        <Button variant="primary" disabled={disabled} isBusy={isBusy('approve')} onClick={() => act('approve')}>
          Approve
        </Button>
        <Button variant="danger" disabled={disabled} isBusy={isBusy('reject')} onClick={() => act('reject')}>
          Reject
        </Button>
      </div>
    </div>
  );
}
