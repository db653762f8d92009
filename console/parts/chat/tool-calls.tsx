import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { Link } from 'wouter';
import { isNotFound } from '../../service/explain.js';
import { useNodeEntry, useNodeWords, useRequests } from '../../live/run-cache.js';
import { Status } from '../../ui/status.js';
import { toVisibleJson, toVisibleText } from '../../ui/visible-json.js';
import type { Step } from '../node-result/agent-step.js';
import { readAgentSteps } from '../node-result/agent-steps.js';
import type { ChatWorkflow } from './chat-workflow.js';
import { callsSoFar, type ShownCall } from './calls-so-far.js';

interface ToolCallsProps {
  workflow: ChatWorkflow;
  runId: string;
}

/** Tool calls of an ended run, loaded when the answer scrolls into view. */
export function StoredToolCalls({ workflow, runId }: ToolCallsProps) {
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useHasBeenSeen(place, workflow.agents.length > 0);
  const answers = useQueries({
    queries: workflow.agents.map((nodeId) => ({
      queryKey: ['agent-steps', runId, nodeId, 'chat'],
      queryFn: ({ signal }: { signal: AbortSignal }) => readSteps(workflow.id, runId, nodeId, signal),
      enabled: isSeen,
      staleTime: Infinity,
    })),
  });
  if (workflow.agents.length === 0) return null;
  const steps = answers.flatMap(({ data }) => data ?? []);
  return (
    <div ref={place} className="chat-calls">
      <Calls calls={callsSoFar(steps, undefined)} />
    </div>
  );
}

export function LiveToolCalls({ workflow, runId, nodeId }: ToolCallsProps & { nodeId: string }) {
  const entry = useNodeEntry(runId, nodeId);
  const words = useNodeWords(runId, nodeId);
  const { approvals } = useRequests(runId);
  // Part of the query key: a new step, tool call or decision reloads the steps.
  const news = [entry?.status, words?.attempt, words?.step, words?.toolCalls.length, ...approvals].join();
  const { data = NONE } = useQuery({
    queryKey: ['agent-steps', runId, nodeId, 'chat', news],
    queryFn: ({ signal }) => readSteps(workflow.id, runId, nodeId, signal),
    enabled: entry !== null,
    placeholderData: (before) => before,
  });
  return <Calls calls={callsSoFar(data, words)} />;
}

const NONE: readonly Step[] = [];

async function readSteps(workflowId: number, runId: string, nodeId: string, signal: AbortSignal): Promise<Step[]> {
  const address = { workflowId, runId, nodeId, path: '' };
  const steps: Step[] = [];
  try {
    for (let page = 1; ; page += 1) {
      const { items, size, total } = await readAgentSteps(address, page, signal);
      steps.push(...items);
      if (items.length === 0 || page * size >= total) break;
    }
  } catch (error) {
    // The drawing of this run did not contain the agent, or the run could not reach it.
    if (!isNotFound(error)) throw error;
  }
  return steps;
}

function Calls({ calls }: { calls: readonly ShownCall[] }) {
  if (calls.length === 0) return null;
  return (
    <ul className="chat-call-list" aria-label="Tool calls">
      {calls.map((call, index) => (
        // A tool may be called twice; the order of calls is stable.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index}>
          <OneCall call={call} />
        </li>
      ))}
    </ul>
  );
}

/** A foldable row with the arguments of the call and the answer to the model. */
function OneCall({ call }: { call: ShownCall }) {
  const { tool_name: name, arguments: original, edited_arguments: edited, answer, run_id: childId } = call;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="chat-call" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <code className="chat-call-name">{toVisibleText(name)}</code>
        <Status status={outcomeOf(call)} />
      </summary>
      {isOpen && (
        <div className="chat-call-body">
          {call.left_out ? (
            <p className="chat-hint">Its arguments and its answer are too long to be shown here.</p>
          ) : (
            <>
              <h4>{edited === null ? 'Arguments' : 'Arguments, changed by a person'}</h4>
              <pre className="chat-plain" dir="ltr">
                {toShown(edited ?? original)}
              </pre>
              {answer !== null && (
                <>
                  <h4>Answer</h4>
                  <pre className="chat-plain">{toVisibleText(answer)}</pre>
                </>
              )}
            </>
          )}
          {childId !== null && <Link href={`/runs/${encodeURIComponent(childId)}`}>Its run</Link>}
        </div>
      )}
    </details>
  );
}

const OUTCOMES = {
  result: 'done',
  tool_error: 'failed',
  rejected: 'rejected',
  expired: 'expired',
  invalid: 'refused',
} as const;

function outcomeOf({ outcome, approval }: ShownCall): string {
  if (outcome !== null) return OUTCOMES[outcome];
  return approval?.status === 'pending' ? 'waiting' : 'in progress';
}

/** Arguments that are not a JSON object are shown as text. */
function toShown(value: unknown): string {
  return typeof value === 'string' ? toVisibleText(value) : toVisibleJson(value);
}

function useHasBeenSeen(place: RefObject<HTMLElement | null>, isWanted: boolean): boolean {
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    // Observes the parent, because the element itself has no size while it is empty.
    const element = place.current?.parentElement ?? null;
    if (!isWanted || isSeen || element === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [place, isWanted, isSeen]);
  return isSeen;
}
