import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import { isObject } from '../../../graph/json.js';
import { readLinks } from '../../drawing/run-links.js';
import { hasEnded, type LiveRun } from '../../live/live-run.js';
import { useLive, useRunWord, useWords } from '../../live/run-cache.js';
import { useLiveRun } from '../../live/use-live-run.js';
import { Loading } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { useRun, type RunDetail } from '../run/run-data.js';
import { AnswerText } from './answer-text.js';
import { Asks } from './asks.js';
import type { ChatWorkflow } from './chat-workflow.js';
import { LiveToolCalls } from './tool-calls.js';
import { Queued } from './unanswered.js';

interface LiveAnswerProps {
  workflow: ChatWorkflow;
  runId: string;
  /** True if earlier messages are not answered yet. */
  isBehind: boolean;
  mayWrite: boolean;
  onChanged: () => Promise<void>;
}

/** The answer of an open run: streamed text, tool calls, and requests to people. */
export function LiveAnswer(props: LiveAnswerProps) {
  const { runId } = props;
  const { data, error, refetch, isFetching } = useRun(runId);
  if (data === undefined) {
    return (
      <article className="chat-answer" aria-label="Answer" aria-busy="true">
        {error === null ? (
          <Loading />
        ) : (
          <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
        )}
      </article>
    );
  }
  return <Followed {...props} run={data} />;
}

function Followed({ workflow, runId, isBehind, mayWrite, onChanged, run }: LiveAnswerProps & { run: RunDetail }) {
  const links = useMemo(() => readLinks(run.data), [run.data]);
  const isOpen = run.status === 'In Progress';
  const { connection, error, retry } = useLiveRun({ runId, links, isOpen, withWords: true });
  const word = useRunWord(runId) ?? 'in queue';
  useEnd(word, isOpen, onChanged);
  const [wasQueued] = useState(isBehind);
  const { text, isGoingOn } = useAnswer(runId, useAnswerNodes(run, wasQueued && word !== 'in queue'));
  const isWriting = isGoingOn && word !== 'waiting';
  if (word === 'in queue' && isBehind) {
    return (
      <article className="chat-answer" aria-label="Answer">
        <Queued {...{ workflowId: workflow.id, runId, mayWrite, onChanged }} />
      </article>
    );
  }
  return (
    <>
      <article className="chat-answer" aria-label="Answer" aria-busy={word !== 'waiting'}>
        {workflow.agents.map((nodeId) => (
          <LiveToolCalls key={nodeId} {...{ workflow, runId, nodeId }} />
        ))}
        {text !== '' && <AnswerText text={text} isWriting={isWriting} />}
        <div className="chat-facts">
          <Status status={isWriting ? 'writing' : word === 'succeed' || word === 'failed' ? 'in progress' : word} />
          <Link href={`/runs/${runId}`}>Run</Link>
        </div>
        {connection === 'lost' && error === undefined && <p className="chat-hint">The connection is lost.</p>}
        <Problem error={error} onRetry={retry} />
      </article>
      <Asks runId={runId} projectId={workflow.projectId} />
    </>
  );
}

/** Reloads the messages after the run's end, because they then contain the answer. */
function useEnd(word: string, isOpen: boolean, onChanged: () => Promise<void>): void {
  const isOver = !isOpen || word === 'succeed' || word === 'failed';
  const change = useEffectEvent(() => void onChanged());
  useEffect(() => {
    if (isOver) change();
  }, [isOver]);
}

/**
 * Returns the ids of the nodes that may answer. When a queued run starts, it takes the workflow's current drawing, so
 * these ids are loaded again, without `useRun`, which would also update the live cache.
 */
function useAnswerNodes(run: RunDetail, hasLeftQueue: boolean): readonly string[] {
  const { data } = useQuery({
    queryKey: ['run-answer-nodes', run.id],
    queryFn: async ({ signal }) => {
      const read = await unwrap(api.GET('/api/v1/runs/{run_id}/', { params: { path: { run_id: run.id } }, signal }));
      return read.answer_nodes ?? NONE;
    },
    enabled: hasLeftQueue,
    staleTime: Infinity,
  });
  return data ?? run.answer_nodes ?? NONE;
}

const NONE: readonly string[] = [];

/** Returns the output of the answering node, of which a run has at most one. */
function useAnswer(runId: string, answering: readonly string[]): { text: string; isGoingOn: boolean } {
  const words = useWords(runId, (all) => {
    const id = answering.find((nodeId) => all.has(nodeId));
    return id === undefined ? null : all.get(id)!;
  });
  const live = useLive(runId);
  // A model that called tools writes no more until it gets their results.
  if (words) return { text: words.text, isGoingOn: words.text !== '' && words.toolCalls.length === 0 };
  return { text: live === undefined ? '' : resultOf(live, answering), isGoingOn: false };
}

/**
 * Returns the text of the answering node's result, shown until the answer becomes a message. Empty before the node has
 * succeeded, and if the run has failed.
 */
function resultOf(live: LiveRun, answering: readonly string[]): string {
  if (hasEnded(live) && live.status === 'failed') return '';
  for (const id of answering) {
    const entry = live.nodes.get(id);
    const result: unknown = entry?.status === 'succeed' ? entry.result : undefined;
    if (isObject(result) && typeof result['content'] === 'string') return result['content'];
  }
  return '';
}
