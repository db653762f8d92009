import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useLocation } from 'wouter';
import { createIdempotencyKey, reRun } from '../../../../clients/typescript/src/index.js';
import { api, ServiceError } from '../../../app/api.js';
import { announce } from '../../../ui/notices.js';
import type { RunDetail } from '../run-data.js';

/** Starts the run again and goes to the new one. `input` undefined: the same input, secrets included. */
export function useReRun(run: RunDetail) {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  // One click is one run, however often its request is repeated; a changed input is another one.
  const asked = useRef({ input: '', key: '' });
  return useMutation({
    mutationFn: ({ input }: { input?: unknown }) => {
      const text = JSON.stringify(input) ?? '';
      if (asked.current.key === '' || asked.current.input !== text) {
        asked.current = { input: text, key: createIdempotencyKey() };
      }
      const idempotencyKey = asked.current.key;
      return reRun(api, run.workflow.id, run.id, { idempotencyKey, ...(input === undefined ? {} : { input }) });
    },
    onError: (error) => {
      // A refusal is final, and the next click another try; after anything else the run may be there.
      if (error instanceof ServiceError && error.status < 500) asked.current = { input: '', key: '' };
    },
    onSuccess: (runId) => {
      asked.current = { input: '', key: '' };
      announce('A new run has started.');
      void client.invalidateQueries({ queryKey: ['runs'] });
      navigate(`/runs/${runId}`);
    },
  });
}
