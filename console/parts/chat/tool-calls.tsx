import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { Link } from 'wouter';
import { parseJsonOrUndefined } from '../../../graph/json-text.js';
import { isNotFound } from '../../service/explain.js';
import { isObject } from '../../../graph/json.js';
import { useNodeEntry, useNodeWords, useRequests } from '../../live/run-cache.js';
import type { ToolCall } from '../../live/words.js';
import { Status } from '../../ui/status.js';
import { toVisibleJson, toVisibleText } from '../../ui/visible-json.js';
import { readAgentSteps, type Step, type StepCall } from '../node-result/agent-steps.js';
import type { ChatWorkflow } from './chat-workflow.js';

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
      queryFn: ({ signal }: { signal: AbortSignal }) => readCalls(workflow.id, runId, nodeId, signal),
      enabled: isSeen,
      staleTime: Infinity,
    })),
  });
  if (workflow.agents.length === 0) return null;
  const calls = answers.flatMap(({ data }) => data ?? []);
  return (
    <div ref={place} className="chat-calls">
      <Calls calls={calls} />
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
    queryFn: ({ signal }) => readCalls(workflow.id, runId, nodeId, signal),
    enabled: entry !== null,
    placeholderData: (before) => before,
  });
  const asked = words?.toolCalls ?? [];
  const known = data.slice(-asked.length).map(({ tool_name: name }) => name);
  const isKnown = asked.length > 0 && asked.every(({ name }, index) => known[index] === name);
  return <Calls calls={isKnown ? data : [...data, ...asked.map(toStepCall)]} />;
}

type ShownCall = Pick<StepCall, 'tool_name' | 'arguments' | 'edited_arguments' | 'outcome' | 'answer' | 'run_id'> &
  Pick<StepCall, 'left_out' | 'approval'>;

const NONE: readonly ShownCall[] = [];

function toStepCall({ name, arguments: text }: ToolCall): ShownCall {
  const nothing = { edited_arguments: null, outcome: null, answer: null, run_id: null, approval: null };
  return { ...nothing, tool_name: name, arguments: readArguments(text), left_out: false };
}

function readArguments(text: string): unknown {
  const value = parseJsonOrUndefined(text);
  return isObject(value) ? value : text;
}

async function readCalls(workflowId: number, runId: string, nodeId: string, signal: AbortSignal): Promise<ShownCall[]> {
  const address = { workflowId, runId, nodeId, path: '' };
  const steps: Step[] = [];
  try {
    for (let page = 1; ; page += 1) {
      const { items, size, total } = await readAgentSteps(address, page, signal);
      steps.push(...items);
      if (items.length === 0 || page * size >= total) break;
    }
  } catch (error) {
    // The drawing of this run did not contain the agent.
    if (!isNotFound(error)) throw error;
  }
  return steps.flatMap(({ tool_calls: calls }) => calls);
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
