import { useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../../app/explain.js';
import type { NodeEntry } from '../../../live/live-run.js';
import { Duration, Money } from '../../../ui/figures.js';
import { Alert } from '../../../ui/notices.js';
import { Pager } from '../../../ui/table.js';
import { toVisibleJson, toVisibleText } from '../../../ui/visible-json.js';
import { useAgentSteps, type Step, type StepCall } from './agent-steps-data.js';
import type { NodeAddress } from './node-detail.js';

/** What an agent has done, while it works too; nothing for a node without steps. */
export function AgentSteps({ address, entry }: { address: NodeAddress; entry: NodeEntry }) {
  const [page, setPage] = useState(1);
  const { data, error, isFetching, refetch } = useAgentSteps(address, entry, page);
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
      <Pager page={page} size={data.size} total={data.total} onPage={setPage} />
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
      {content !== null && content !== '' && <pre className="node-step-text">{content}</pre>}
      {step.tool_calls.length > 0 && (
        <ul className="node-steps">
          {step.tool_calls.map((call, index) => (
            // The same tool may be called twice in a step, and the calls keep their order.
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

/** Arguments that are no JSON object are a text. */
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
