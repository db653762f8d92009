import { lazy, Suspense, useId } from 'react';
import { Link } from 'wouter';
import { useUser } from '../../../app/session.js';
import { Time } from '../../../ui/figures.js';
import { Loading, Note } from '../../../ui/notices.js';
import { Status } from '../../../ui/status.js';
import { toVisibleText } from '../../../ui/visible-json.js';
import '../inbox.css';
import { RequestFacts } from '../request-facts.js';
import { AnswerForm } from './answer-form.js';
import type { Task } from './task-data.js';
import './tasks.css';

const Markdown = lazy(() => import('../../run/content/markdown.js').then((module) => ({ default: module.Markdown })));

interface TaskArticleProps {
  task: Task;
  /** The task after the person's answer. */
  onChange: (task: Task) => void;
  /** Whether the heading leads to the task's own page. */
  isLinked?: boolean;
}

/** One human task: what is asked, by whom, what people have answered, and the form or the outcome. */
export function TaskArticle({ task, onChange, isLinked = false }: TaskArticleProps) {
  const id = useId();
  const label = toVisibleText(task.node_label);
  const isWaiting = task.status === 'pending';
  return (
    <article className="request" aria-labelledby={id}>
      <header className="request-head">
        <h2 id={id} className="request-title">
          {isLinked ? <Link href={`/inbox/${encodeURIComponent(task.id)}`}>{label}</Link> : label}
        </h2>
        <Status status={isWaiting ? 'waiting' : task.status} />
      </header>
      <RequestFacts request={task} />
      <div className="task-message">
        <Suspense fallback={<Loading />}>
          <Markdown text={task.message} />
        </Suspense>
      </div>
      {task.required > 1 && <p>{task.required} people must choose the same action.</p>}
      <Answers task={task} />
      {task.may_answer && <AnswerForm task={task} onAnswered={onChange} />}
      {isWaiting && !task.may_answer && <WhyNot task={task} />}
      {task.status === 'expired' && (
        <Note>Nobody can answer this any more: its time is over, or its run has ended.</Note>
      )}
    </article>
  );
}

function WhyNot({ task }: { task: Task }) {
  const user = useUser();
  const hasAnswered = task.answers.some(({ answered_by: by }) => by.id === user?.id);
  return (
    <Note>
      {hasAnswered ? 'You have answered. The task waits for others.' : 'You are not among those who may answer this.'}
    </Note>
  );
}

function Answers({ task: { answers, actions } }: { task: Task }) {
  const user = useUser();
  const labels = new Map(actions.map(({ id, label }) => [id, label]));
  if (answers.length === 0) return null;
  return (
    <ul className="task-answers" aria-label="Answers">
      {answers.map(({ answered_by: by, action, values, comment, answered_at: at }) => (
        <li key={by.id} className="request-outcome">
          <p>
            <strong>
              {by.id === user?.id ? 'You' : by.name} chose {labels.get(action) ?? action}.
            </strong>{' '}
            <Time at={at} />
          </p>
          {Object.entries(values).map(([field, value]) => (
            <p key={field} className="request-reason">
              {field}: {toVisibleText(typeof value === 'string' ? value : JSON.stringify(value))}
            </p>
          ))}
          {comment !== '' && <p className="request-reason">Comment: {comment}</p>}
        </li>
      ))}
    </ul>
  );
}
