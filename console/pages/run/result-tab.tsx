import { useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../app/explain.js';
import { mayAct, useProjectRole } from '../../app/projects.js';
import { ownValue } from '../../drawing/json.js';
import { FilesOf } from '../../files/file-figure.js';
import type { NodeEntry } from '../../live/live-run.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Duration, Money, Time } from '../../ui/figures.js';
import { Alert } from '../../ui/notices.js';
import { Pager } from '../../ui/table.js';
import { toVisibleJson, toVisibleText } from '../../ui/visible-json.js';
import { useConnections } from '../connection/connection-calls.js';
import { CodeLines, ContentView } from './content-view.js';
import { JsonTree, SearchedTree } from './json-tree.js';
import { useAgentSteps, type Step, type StepCall } from './agent-steps.js';
import type { NodeAddress } from './node-detail.js';
import { failedChild, lineOfError, readRefusal, readResult } from './result-parts.js';
import type { ApprovalRequest, NodeDetail } from './run-data.js';

interface ResultTabProps {
  address: NodeAddress;
  /** The project of the run. */
  projectId: number;
  entry: NodeEntry;
  /** The detail is undefined until it is read. */
  detail: NodeDetail | undefined;
  /** The name of downloaded files. */
  label: string;
  /** The node's requests that nobody has decided. */
  pending: readonly ApprovalRequest[];
  /** The time since which the contents are gone. */
  expiredAt: string | undefined;
}

export function ResultTab({ address, ...shown }: ResultTabProps) {
  return (
    <div className="node-part">
      <Result nodeId={address.nodeId} {...shown} />
      <AgentSteps address={address} entry={shown.entry} />
    </div>
  );
}

function Result(props: Omit<ResultTabProps, 'address'> & { nodeId: string }) {
  const { nodeId, projectId, entry, detail, label, pending, expiredAt } = props;
  const root = `${nodeId}.result`;
  if (entry.status === 'failed') return <Failure entry={entry} detail={detail} />;
  if (entry.status !== 'succeed') return <Unfinished {...{ projectId, pending }} waiting={entry.waiting} />;
  if (expiredAt !== undefined) {
    return (
      <p>
        The result has expired: it was removed on <Time at={expiredAt} />.
      </p>
    );
  }
  const { content, isAnswer, childRun, rest } = readResult(entry.result);
  const isSearched = content !== undefined && /^\s*[[{]/.test(content);
  return (
    <div className="node-part">
      {childRun !== undefined && <ChildLink runId={childRun} />}
      {content !== undefined && <ContentView text={content} name={label} isAnswer={isAnswer} root={root} />}
      <FilesOf value={entry.result} />
      {Object.keys(rest).length > 0 && (
        <section className="node-part" aria-label="Further fields">
          <h3>Further fields</h3>
          {/* One searchbox is enough: that of the content, if there is one that is JSON. */}
          {isSearched ? (
            <JsonTree value={rest} depth={1} root={root} />
          ) : (
            <SearchedTree value={rest} depth={1} root={root} />
          )}
        </section>
      )}
    </div>
  );
}

interface FailureProps {
  entry: NodeEntry;
  /** The detail is undefined until it is read. */
  detail: NodeDetail | undefined;
}

/** Says why a node has failed, and shows what helps to find out more: its code, or the run that it had started. */
function Failure({ entry, detail }: FailureProps) {
  const refusal = readRefusal(entry.result);
  if (refusal.length > 0) {
    return (
      <div className="node-part">
        <p>The node was not valid, so the run did not begin.</p>
        <ul className="node-refusal">
          {refusal.map(({ field, sentence }) => (
            <li key={`${field} ${sentence}`}>
              <code>{field}</code>: {sentence}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  const { error } = entry;
  const childRun = failedChild(error);
  const code = error?.code === 'code_error' && detail?.input ? ownValue(detail.input, 'code') : undefined;
  return (
    <div className="node-part">
      <div className="node-error">
        <code className="node-error-code">{error?.code ?? 'failed'}</code>
        <p className="node-error-message">{error?.message ?? 'The node failed.'}</p>
      </div>
      {childRun !== undefined && <ChildLink runId={childRun} />}
      {typeof code === 'string' && <CodeLines code={code} marked={lineOfError(error)} />}
    </div>
  );
}

interface UnfinishedProps {
  projectId: number;
  waiting: NodeEntry['waiting'];
  /** The node's requests that nobody has decided. */
  pending: readonly ApprovalRequest[];
}

/** Says what a node waits for, and how a person can help. */
function Unfinished({ projectId, waiting, pending }: UnfinishedProps) {
  if (pending.length > 0) return <Requests pending={pending} />;
  switch (waiting?.for) {
    case 'child':
      return (
        <div className="node-part">
          <p>The node waits for the end of another run. Its result appears here.</p>
          {waiting.run_id !== undefined && <ChildLink runId={waiting.run_id} />}
        </div>
      );
    case 'callback':
      return <Callback url={waiting.callback_url} until={waiting.until} />;
    case 'connection':
      return <ConnectionWait projectId={projectId} connectionId={waiting.connection_id} until={waiting.until} />;
    case 'human':
      return (
        <p>
          The node waits for a person until <Time at={waiting.until} />.{' '}
          {waiting.task_id !== undefined && (
            <Link href={`/inbox/${encodeURIComponent(waiting.task_id)}`}>Open the task</Link>
          )}
        </p>
      );
    case 'time':
      return (
        <p>
          The node waits until <Time at={waiting.until} />.
        </p>
      );
    case 'approval':
    case undefined:
    default:
      return <p>The node has not ended yet. Its result appears here.</p>;
  }
}

interface ConnectionWaitProps {
  projectId: number;
  connectionId: number | undefined;
  until: string;
}

/** Says who can end the wait, and leads those who may sign in to the connection. */
function ConnectionWait({ projectId, connectionId, until }: ConnectionWaitProps) {
  const { role } = useProjectRole(projectId);
  const connections = useConnections(projectId, role !== undefined && mayAct(role, 'editor'));
  const name = connections.data?.find(({ id }) => id === connectionId)?.name;
  return (
    <p>
      The node waits until somebody has signed in for {name === undefined ? 'its connection' : 'the connection '}
      {name !== undefined && <strong>{name}</strong>}, or until <Time at={until} />. Then it makes its call.{' '}
      {role !== undefined && mayAct(role, 'admin') ? (
        <Link href={`/settings?tab=connections&project=${projectId}`}>Go to the connection</Link>
      ) : (
        'Owners and admins of the project can sign in.'
      )}
    </p>
  );
}

function Callback({ url, until }: { url: string | undefined; until: string }) {
  return (
    <div className="node-part">
      <p>
        The node waits for a callback until <Time at={until} />. What is sent to its address becomes its result.
      </p>
      {url !== undefined && (
        <>
          <pre className="node-step-text">{url}</pre>
          <p>
            <CopyButton text={url} label="Copy address" />
          </p>
        </>
      )}
    </div>
  );
}

function Requests({ pending }: Pick<UnfinishedProps, 'pending'>) {
  return (
    <div className="node-part">
      <p>The node waits for a decision:</p>
      <ul className="node-part">
        {pending.map((request) => (
          <li key={request.request_id}>
            <Link href={`/inbox/${encodeURIComponent(request.request_id)}`}>Decide about {request.tool_name}</Link>{' '}
            until <Time at={request.expires_at} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A link to the run that a node has started. */
function ChildLink({ runId }: { runId: string }) {
  return (
    <p>
      <Link href={`/runs/${encodeURIComponent(runId)}`}>Open the run that it has started</Link>
    </p>
  );
}

/** The steps of an agent, shown while it works as well. A node without steps shows nothing. */
function AgentSteps({ address, entry }: { address: NodeAddress; entry: NodeEntry }) {
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
            // A tool may be called twice in a step, and the calls keep their order.
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
