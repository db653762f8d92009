import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';
import { parseJson } from '../../../graph/json-text.js';
import { api, unwrap } from '../../service/api.js';
import { explain } from '../../service/explain.js';
import type { NodeEntry } from '../../live/live-run.js';
import type { NodeWords } from '../../live/words.js';
import { Duration, Money } from '../../ui/figures.js';
import { Alert } from '../../ui/notices.js';
import { Pager } from '../../ui/table.js';
import { toVisibleJson, toVisibleText } from '../../ui/visible-json.js';
import type { Step, StepCall, StepList } from './agent-step.js';
import type { NodeAddress } from './node-detail.js';

interface AgentStepsProps {
  query: UseQueryResult<StepList>;
  page: number;
  onPage: (page: number) => void;
}

/** The steps of an agent, also while it runs. Renders nothing if there are none. */
export function AgentSteps({ query: { data, error, isFetching, refetch }, page, onPage }: AgentStepsProps) {
  if (error !== null) {
    return (
      <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
        The steps could not be read. {explain(error)}
      </Alert>
    );
  }
  if (data === undefined || data.total === 0) return null;
  return (
    <section className="node-part" aria-label="Steps">
      <h3>Steps</h3>
      <ol className="node-steps">
        {data.items.map((step) => (
          <OneStep key={step.iteration} step={step} />
        ))}
      </ol>
      <Pager page={page} size={data.size} total={data.total} onPage={onPage} />
    </section>
  );
}

function OneStep({ step }: { step: Step }) {
  const { input_tokens: input, output_tokens: output, content } = step;
  return (
    <li>
      <span className="node-step-name">Model call {step.iteration}</span>
      <p className="node-hint">
        {STATUS_WORDS[step.status]} {step.model}
        {input !== null && output !== null && `, ${input} tokens in, ${output} out`}, <Money amount={step.cost} />
        <Took startedAt={step.started_at} finishedAt={step.finished_at} />
      </p>
      {step.left_out && <p className="node-hint">What was said is too long to be shown here.</p>}
      {(step.warnings ?? []).map(({ server_label: server, tool_name: tool, message }, index) => (
        // Tool names of a server may repeat; the order of warnings is stable.
        // oxlint-disable-next-line react/no-array-index-key
        <p key={index} className="node-hint">
          {tool} ({server}): {message}
        </p>
      ))}
      {content !== null && content !== '' && <pre className="node-step-text">{content}</pre>}
      {step.tool_calls.length > 0 && (
        <ul className="node-steps">
          {step.tool_calls.map((call, index) => (
            // A step may call a tool twice; the order of calls is stable.
            // oxlint-disable-next-line react/no-array-index-key
            <OneCall key={index} call={call} />
          ))}
        </ul>
      )}
    </li>
  );
}

const STATUS_WORDS: Readonly<Record<Step['status'], string>> = {
  'in progress': 'waits for',
  succeed: 'answered by',
  failed: 'not answered by',
};

function OneCall({ call }: { call: StepCall }) {
  const { tool_name: tool, server_label: server, outcome, answer, edited_arguments: edited } = call;
  return (
    <li>
      called <code>{toVisibleText(tool)}</code>
      {server !== null && server !== '' && <> of {toVisibleText(server)}</>}:{' '}
      {(outcome ?? 'no outcome yet').replaceAll('_', ' ')}
      <Took startedAt={call.started_at} finishedAt={call.finished_at} />
      {call.run_id !== null && (
        <>
          , <Link href={`/runs/${encodeURIComponent(call.run_id)}`}>its run</Link>
        </>
      )}
      {call.left_out ? (
        <p className="node-hint">Its arguments and its answer are too long to be shown here.</p>
      ) : (
        <>
          <pre className="node-step-text">{toShown(edited ?? call.arguments)}</pre>
          {edited !== null && <p className="node-hint">A person has changed these arguments.</p>}
          {answer !== null && <pre className="node-step-text">{answer}</pre>}
        </>
      )}
    </li>
  );
}

/** Arguments that are not a JSON object are shown as text. */
function toShown(value: unknown): string {
  return typeof value === 'string' ? toVisibleText(value) : toVisibleJson(value);
}

function Took({ startedAt, finishedAt }: { startedAt: string | null; finishedAt: string | null }) {
  if (startedAt === null || finishedAt === null) return null;
  return (
    <>
      , <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
    </>
  );
}

const PAGE_SIZE = 20;
const RUNNING_EVERY_MS = 3_000;

/**
 * Loads a page of an agent's steps; other nodes have none. Polls while the node is in progress. Also reloads when its
 * state changes or its model starts to write another step.
 */
export function useAgentSteps(
  address: NodeAddress,
  entry: NodeEntry,
  page: number,
  words: NodeWords | undefined,
): UseQueryResult<StepList> {
  const { runId, nodeId, path } = address;
  const isRunning = entry.status === 'in progress';
  return useQuery({
    queryKey: ['agent-steps', runId, nodeId, path, page, entry.status, entry.finished_at, words?.step],
    queryFn: ({ signal }) => readAgentSteps(address, page, signal),
    placeholderData: (before) => before,
    staleTime: isRunning ? 0 : 60_000,
    refetchInterval: isRunning ? RUNNING_EVERY_MS : false,
  });
}

/** Preserves the digits of numbers. */
export async function readAgentSteps(address: NodeAddress, page: number, signal: AbortSignal): Promise<StepList> {
  const { runId, workflowId, nodeId, path } = address;
  const query = { page, size: PAGE_SIZE, ...(path === '' ? {} : { path }) };
  const params = { path: { id: workflowId, run_id: runId, node_id: nodeId }, query };
  const options = { params, parseAs: 'text', signal } as const;
  const text = await unwrap(api.GET('/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/steps/', options));
  return parseJson(text) as StepList;
}
