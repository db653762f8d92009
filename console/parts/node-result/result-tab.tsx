import { useState } from 'react';
import { Link } from 'wouter';
import { ownValue } from '../../../graph/json.js';
import { FilesOf } from '../../files/file-figure.js';
import type { NodeEntry } from '../../live/live-run.js';
import { useNodeWords } from '../../live/run-cache.js';
import type { NodeWords } from '../../live/words.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Time } from '../../ui/figures.js';
import { RequestHere, TaskHere } from '../requests/request-here.js';
import { ConnectionWait } from '../connection/connection-wait.js';
import { AgentSteps, useAgentSteps } from './agent-steps.js';
import { isSearched } from './content-forms.js';
import { CodeLines, ContentView, useContent } from './content-view.js';
import { JsonTree, SearchedTree } from './json-tree.js';
import type { NodeAddress } from './node-detail.js';
import {
  failedChild,
  lineOfError,
  readRefusal,
  readResult,
  rootOfContent,
  sentenceInMessage,
  sentenceOfAnswer,
} from './result-parts.js';
import type { ApprovalRequest, NodeDetail } from '../run/run-data.js';
import { Written } from './written.js';

interface ResultTabProps {
  address: NodeAddress;
  projectId: number;
  entry: NodeEntry;
  /** Undefined until loaded; test results in the editor never load it. */
  detail: NodeDetail | undefined;
  /** Base name of downloaded files. */
  label: string;
  /** Undecided requests of the node. */
  pending: readonly ApprovalRequest[];
  /** When the contents were removed. */
  expiredAt: string | undefined;
}

export function ResultTab({ address, ...shown }: ResultTabProps) {
  const words = useNodeWords(address.runId, address.nodeId, address.path);
  const [page, setPage] = useState(1);
  const steps = useAgentSteps(address, shown.entry, page, words);
  // Once a model call has ended, its step lists the tool calls that it asked for, so the live output must not repeat
  // them.
  const isInSteps = steps.data?.items.some(
    ({ iteration, status, tool_calls: calls }) =>
      iteration - 1 === words?.step && status !== 'in progress' && calls.length > 0,
  );
  return (
    <div className="node-part">
      <Result nodeId={address.nodeId} {...shown} words={isInSteps ? undefined : words} />
      <AgentSteps query={steps} page={page} onPage={setPage} />
    </div>
  );
}

interface ResultProps extends Omit<ResultTabProps, 'address'> {
  nodeId: string;
  /** Live output of the node's model. */
  words: NodeWords | undefined;
}

function Result({ nodeId, projectId, entry, detail, label, pending, expiredAt, words }: ResultProps) {
  if (entry.status === 'failed') return <Failure entry={entry} detail={detail} />;
  if (entry.status !== 'succeed' && words !== undefined && pending.length === 0 && entry.waiting === undefined) {
    const attempt = detail?.attempts.find(({ number }) => number === words.attempt);
    return <Written words={words} hasFailed={attempt?.status === 'failed'} />;
  }
  if (entry.status !== 'succeed') return <Unfinished {...{ projectId, pending }} waiting={entry.waiting} />;
  if (expiredAt !== undefined) {
    return (
      <p>
        The result has expired: it was removed on <Time at={expiredAt} />.
      </p>
    );
  }
  return <Success result={entry.result} label={label} root={`${nodeId}.result`} />;
}

interface SuccessProps {
  result: unknown;
  label: string;
  /** The variable of the result: `NODE.result`. */
  root: string;
}

function Success({ result, label, root }: SuccessProps) {
  const { content, isAnswer, childRun, rest } = readResult(result);
  const sentence = sentenceOfAnswer(result);
  const shown = useContent(content ?? '', isAnswer);
  return (
    <div className="node-part">
      {childRun !== undefined && <ChildLink runId={childRun} />}
      {sentence !== undefined && <p className="node-error-sentence">{sentence}</p>}
      {content !== undefined && (
        <ContentView content={shown} name={label} root={rootOfContent(root, result, shown.forms.structure)} />
      )}
      <FilesOf value={result} />
      {Object.keys(rest).length > 0 && (
        <section className="node-part" aria-label="Further fields">
          <h3>Further fields</h3>
          {/* One search field is enough: the content has one if it is shown as a JSON tree. */}
          {isSearched(shown.forms, shown.form) ? (
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
  detail: NodeDetail | undefined;
}

/**
 * Shows why a node failed. For a code node, also shows its source code with the line of the error; for a sub-workflow,
 * a link to its run.
 */
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
  const sentence = error === undefined ? undefined : sentenceInMessage(error.message);
  const code = error?.code === 'code_error' && detail?.input ? ownValue(detail.input, 'code') : undefined;
  return (
    <div className="node-part">
      <div className="node-error">
        <code className="node-error-code">{error?.code ?? 'failed'}</code>
        {sentence !== undefined && <p className="node-error-sentence">{sentence}</p>}
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
  pending: readonly ApprovalRequest[];
}

/** Explains what the node waits for. Approval requests and human tasks can be answered here. */
function Unfinished({ projectId, waiting, pending }: UnfinishedProps) {
  if (pending.length > 0) {
    return (
      <div className="node-part">
        {pending.map(({ request_id: id }) => (
          <RequestHere key={id} requestId={id} />
        ))}
      </div>
    );
  }
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
      return waiting.task_id === undefined ? (
        <p>
          The node waits for a person until <Time at={waiting.until} />.
        </p>
      ) : (
        <TaskHere key={waiting.task_id} taskId={waiting.task_id} />
      );
    case 'time':
      return (
        <p>
          The node waits until <Time at={waiting.until} />.
        </p>
      );
    case 'worker':
      return <p>The node waits for a worker of pool {waiting.pool}. None is there, and it goes on when one comes.</p>;
    case 'approval':
    case undefined:
    default:
      return <p>The node has not ended yet. Its result appears here.</p>;
  }
}

function Callback({ url, until }: { url: string | undefined; until: string | undefined }) {
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

function ChildLink({ runId }: { runId: string }) {
  return (
    <p>
      <Link href={`/runs/${encodeURIComponent(runId)}`}>Open the run that it has started</Link>
    </p>
  );
}
