import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useLocation } from 'wouter';
import { createIdempotencyKey, resumeRun, type ResumeOptions } from '../../../../clients/typescript/src/index.js';
import { api, ServiceError } from '../../../app/api.js';
import { announce } from '../../../ui/notices.js';
import type { RunDetail } from '../run-data.js';

/** Starts a run that takes over results of this one, and goes to it. */
export function useResume(run: RunDetail) {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  // One click is one run, however often its request is repeated; another choice is another one.
  const asked = useRef({ choice: '', key: '' });
  return useMutation({
    mutationFn: (options: Pick<ResumeOptions, 'acceptUnknown' | 'drawing' | 'from'>) => {
      const choice = JSON.stringify(options);
      if (asked.current.choice !== choice) asked.current = { choice, key: createIdempotencyKey() };
      return resumeRun(api, run.workflow.id, run.id, { ...options, idempotencyKey: asked.current.key });
    },
    onError: (error) => {
      // A refusal is final, and the next click another try; after anything else the run may be there.
      if (error instanceof ServiceError && error.status < 500) asked.current = { choice: '', key: '' };
    },
    onSuccess: (runId) => {
      announce('A new run has started.');
      void client.invalidateQueries({ queryKey: ['runs'] });
      navigate(`/runs/${runId}`);
    },
  });
}
