// Follows a run and a test of the workflow in the editor. After a reload these are the latest ones.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { api, unwrap } from '../../../service/api.js';
import { hasWriter } from '../../../drawing/drawing.js';
import { useStore } from '../../../drawing/editor-store.js';
import type { JsonObject } from '../../../../graph/json.js';
import { shareParts } from '../../../ui/json.js';
import { readLinks, type RunLinks } from '../../../drawing/run-links.js';
import { useLive, useRunWord, useWriting } from '../../../live/run-cache.js';
import { useLiveRun } from '../../../live/use-live-run.js';
import { announce } from '../../../ui/notices.js';
import type { RunDetail } from '../../../parts/run/run-data.js';
import { runWord } from '../../../live/run-word.js';
import type { TestRun } from './test-store.js';
import { useTests } from './use-tests.js';

interface Followed {
  links: RunLinks;
  isOpen: boolean;
  /** The run's status in the console's words. */
  word: string;
  /** The reason why updates have stopped. */
  error: unknown;
  retry: () => void;
}

/** Updates the statuses on the canvas during a run. Announcements start with `noun`: `Run succeeded`. */
export function useFollowed(test: TestRun, run: RunDetail, noun: string): Followed {
  const tests = useTests();
  const store = useStore();
  const links = useMemo(() => readLinks(run.data), [run.data]);
  // Shared parts make comparisons with the editor's drawing cheap.
  const drawing = useMemo(
    () => test.drawing ?? (shareParts(store.drawing, run.data) as JsonObject),
    [test, run.data, store],
  );
  const isOpen = run.status === 'In Progress';
  const withWords = useMemo(() => hasWriter(run.data, store.kinds), [run.data, store]);
  const { error, retry } = useLiveRun({ runId: run.id, links, isOpen, withWords });
  const live = useLive(run.id);
  const writing = useWriting(run.id);
  useEffect(() => {
    if (live !== undefined) tests.record({ runId: run.id, startedAt: run.created_at, drawing }, live, writing);
  }, [tests, run.id, run.created_at, drawing, live, writing]);
  const word = runWord(run, useRunWord(run.id));
  const [firstWord] = useState(word);
  // The status of a run that was started elsewhere is announced only once it changes.
  const isNews = test.drawing !== undefined || word !== firstWord;
  useEffect(() => {
    if (isNews && tests.isFirst(`${run.id} ${word}`)) announce(`${noun} ${word}`);
  }, [tests, isNews, noun, run.id, word]);
  return { links, isOpen, word, error, retry };
}

/** Loads the latest run and the latest test of the workflow; the canvas does not wait for them. */
export function useNewest(workflowId: number): void {
  const tests = useTests();
  const { data } = useQuery({
    queryKey: ['workflow', workflowId, 'newest'],
    queryFn: async ({ signal }) => {
      const [run, test] = await Promise.all([{}, { purpose: 'test' as const }].map((which) => newest(which, signal)));
      return { run, test };
    },
    staleTime: Infinity,
    gcTime: 0,
  });
  useEffect(() => {
    if (data !== undefined) tests.find(data.run, data.test);
  }, [tests, data]);

  async function newest(which: { purpose?: 'test' }, signal: AbortSignal) {
    const query = { workflow: workflowId, page: 1, size: 1, ...which };
    const { items } = await unwrap(api.GET('/api/v1/runs/', { params: { query }, signal }));
    return items[0];
  }
}
