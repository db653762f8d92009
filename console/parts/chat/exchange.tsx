import { FilesOf } from '../../files/file-figure.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/figures.js';
import type { ChatWorkflow } from './chat-workflow.js';
import { LiveAnswer } from './live-answer.js';
import { toAnew, type Anew, type Exchange, type Message } from './messages.js';
import { StoredAnswer } from './stored-answer.js';
import { Unanswered } from './unanswered.js';

interface ExchangeProps {
  workflow: ChatWorkflow;
  exchange: Exchange;
  /** Ids of the runs that have not ended, oldest first. */
  open: readonly string[];
  /** The open runs whose events are streamed. */
  followed: ReadonlySet<string>;
  mayWrite: boolean;
  onChanged: () => Promise<void>;
  /** Puts a message into the composer to ask it again. */
  onAnew: (anew: Anew) => void;
}

/** A message with its answer. The exchanges that the message replaced are folded above both. */
export function ShownExchange(props: ExchangeProps) {
  const { exchange, open, followed, workflow, mayWrite, onChanged, onAnew } = props;
  const { runId, message, answer, former } = exchange;
  const anew = message === undefined || !mayWrite ? undefined : toAnew(message);
  const ask = anew === undefined ? undefined : (): void => onAnew(anew);
  const isBehind = open.indexOf(runId) > 0;
  return (
    <>
      {former.length > 0 && (
        <details className="chat-former">
          <summary>
            {former.length === 1 ? 'Before it was asked anew' : `Before it was asked anew: ${former.length} messages`}
          </summary>
          <div className="chat-former-list">
            {former.map((each) => (
              <ShownExchange key={each.runId} {...props} exchange={each} />
            ))}
          </div>
        </details>
      )}
      {message !== undefined && <Question message={message} onAnew={ask} />}
      {answer !== undefined && <StoredAnswer workflow={workflow} answer={answer} onAnew={ask} />}
      {answer === undefined && followed.has(runId) && (
        <LiveAnswer {...{ workflow, runId, isBehind, mayWrite }} onChanged={onChanged} />
      )}
      {answer === undefined && !followed.has(runId) && (
        <Unanswered
          {...{ workflowId: workflow.id, runId, mayWrite, onChanged }}
          isQueued={isBehind && message?.status === 'in queue'}
        />
      )}
    </>
  );
}

interface QuestionProps {
  message: Message;
  onAnew: (() => void) | undefined;
}

function Question({ message, onAnew }: QuestionProps) {
  const { content, files, created_at: createdAt, truncated } = message;
  return (
    <div className="chat-question" role="group" aria-label="Question">
      {content !== null && content !== '' && <div className="chat-said">{content}</div>}
      {truncated === true && <p className="chat-hint">This is the beginning. Its run has all of it.</p>}
      <FilesOf value={files} />
      <div className="chat-facts">
        <Time at={createdAt} />
        {onAnew !== undefined && (
          <Button variant="quiet" onClick={onAnew}>
            Ask anew
          </Button>
        )}
      </div>
    </div>
  );
}
