import { memo } from 'react';
import { Link } from 'wouter';
import { FilesOf } from '../../files/file-figure.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Money } from '../../ui/figures.js';
import { AnswerText } from './answer-text.js';
import type { ChatWorkflow } from './chat-workflow.js';
import { failureSentence, type Message } from './messages.js';
import { StoredToolCalls } from './tool-calls.js';

interface StoredAnswerProps {
  workflow: ChatWorkflow;
  answer: Message;
  /** Puts the question into the composer to ask it again. */
  onAnew: (() => void) | undefined;
}

/** The answer of an ended run, or why there is none. */
export const StoredAnswer = memo(
  ({ workflow, answer, onAnew }: StoredAnswerProps) => {
    const { content, run_id: runId, files, cost, truncated } = answer;
    const failure = failureSentence(answer);
    return (
      <article className="chat-answer" aria-label="Answer">
        <StoredToolCalls workflow={workflow} runId={runId} />
        {failure !== undefined && <p className="chat-failure">{failure}</p>}
        {content !== null && <AnswerText text={content} />}
        {truncated === true && <p className="chat-hint">This is the beginning. Its run has all of it.</p>}
        <FilesOf value={files} />
        <div className="chat-facts">
          <Money amount={cost} />
          <Link href={`/runs/${runId}`}>Run</Link>
          {content !== null && content !== '' && <CopyButton text={content} label="Copy" />}
          {failure !== undefined && onAnew !== undefined && <Button onClick={onAnew}>Ask anew</Button>}
        </div>
      </article>
    );
  },
  (before, after) =>
    before.workflow === after.workflow &&
    before.answer === after.answer &&
    (before.onAnew === undefined) === (after.onAnew === undefined),
);
