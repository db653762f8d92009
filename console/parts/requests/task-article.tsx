import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useId, useState } from 'react';
import { Link } from 'wouter';
import { ServiceError } from '../../../clients/typescript/src/index.js';
import { explain, fieldErrors, mayTryAgain } from '../../service/explain.js';
import { useUser } from '../../service/session.js';
import { useUnsent } from '../../service/unsent.js';
import { filesOf } from '../../service/file-value.js';
import { FilesOf } from '../../files/file-figure.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { Alert, announce, Loading, Note } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { toVisibleText } from '../../ui/visible-json.js';
import { RunFieldControl } from '../run-input/run-field.js';
import { fieldsOf, isUploading, toInput, withoutUploads } from '../run-input/run-input.js';
import { answerTask, readTask, type Task } from './request-calls.js';
import './requests.css';
import { FocusedOnce, RequestFacts } from './request-article.js';

const Markdown = lazy(() => import('../../ui/markdown.js').then((module) => ({ default: module.Markdown })));

interface TaskArticleProps {
  task: Task;
  /** Called with the task after the person's answer, or with the reloaded task after a refused answer (409). */
  onChange: (task: Task) => void;
  /** True if the heading links to the task's own page. */
  isLinked?: boolean;
  /** True where the task is shown beside its node: workflow and node are then neither named nor linked. */
  isHere?: boolean;
}

/** A human task: the question, the answers so far, and the form or the outcome. */
export function TaskArticle({ task, onChange, isLinked = false, isHere = false }: TaskArticleProps) {
  const id = useId();
  const label = toVisibleText(task.node_label);
  const isWaiting = task.status === 'pending';
  /** True once a press in the form has loaded the task anew: if the form is gone then, the outcome takes the focus. */
  const [hasPressed, setHasPressed] = useState(false);
  const change = (loaded: Task): void => {
    setHasPressed(true);
    onChange(loaded);
  };
  return (
    <article className="card" aria-labelledby={id}>
      <header className="request-head">
        <h2 id={id} className="request-title">
          {isLinked ? <Link href={`/inbox/${encodeURIComponent(task.id)}`}>{label}</Link> : label}
        </h2>
        <Status status={isWaiting ? 'waiting' : task.status} />
      </header>
      <RequestFacts request={task} isHere={isHere} />
      <div className="task-message">
        <Suspense fallback={<Loading />}>
          <Markdown text={task.message} />
        </Suspense>
      </div>
      <FilesOf value={task.files} />
      {task.required > 1 && <p>{task.required} people must choose the same action.</p>}
      {(task.answers.length > 0 || !task.may_answer) && (
        <FocusedOnce isFocused={hasPressed && !task.may_answer} className="task-outcome">
          <Answers task={task} />
          {isWaiting && !task.may_answer && <WhyNot task={task} />}
          {task.status === 'expired' && (
            <Note>Nobody can answer this any more: its time is over, or its run has ended.</Note>
          )}
        </FocusedOnce>
      )}
      {task.may_answer && <AnswerForm task={task} onChange={change} />}
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
              {field}: {toVisibleText(wordsOf(value))}
            </p>
          ))}
          <FilesOf value={values} />
          {comment !== '' && <p className="request-reason">Comment: {comment}</p>}
        </li>
      ))}
    </ul>
  );
}

/** Files are listed by name only, because they are shown below. */
function wordsOf(value: unknown): string {
  const files = filesOf(value);
  if (files.length > 0) return files.map(({ name }) => name).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const MOST_CHARACTERS = 2_000;

interface Unsent {
  /** Texts by field id. */
  values: ReadonlyMap<string, string>;
  comment: string;
}

const NOTHING: Unsent = { values: new Map(), comment: '' };

interface AnswerFormProps {
  task: Task;
  /** Called with the task after the person's answer, or with the reloaded task after a refused answer (409). */
  onChange: (task: Task) => void;
}

/** The fields of a task, with one button per action. */
function AnswerForm({ task, onChange }: AnswerFormProps) {
  const [{ values, comment }, setUnsent, forgetUnsent] = useUnsent(task.id, NOTHING, withoutUploads);
  const queries = useQueryClient();
  const fields = fieldsOf(task.fields);
  const answer = useMutation({
    mutationFn: (action: string) =>
      answerTask(task.id, { action, values: toInput(fields, values), comment: comment.trim() }),
    onSuccess: (answered) => {
      announce('Your answer has been taken.');
      forgetUnsent();
      onChange(answered);
      void queries.invalidateQueries({ queryKey: ['approvals', 'pending', 'total'] });
      void queries.invalidateQueries({ queryKey: ['tasks'] });
    },
  });
  const reload = useMutation({ mutationFn: () => readTask(task.id), onSuccess: onChange });
  const errors = fieldErrors(answer.error);
  const isSettled = answer.error instanceof ServiceError && answer.error.status === 409;
  const act = (action: string): void => {
    reload.reset();
    if (!answer.isPending) answer.mutate(action);
  };
  return (
    <div className="request-form">
      {fields.map((field) => (
        <RunFieldControl
          key={field.id}
          field={field}
          projectId={task.project.id}
          error={errors[`values.${field.id}`]}
          value={values.get(field.id) ?? field.start}
          onChange={(value) =>
            setUnsent((before) => ({ ...before, values: new Map(before.values).set(field.id, value) }))
          }
        />
      ))}
      <TextField
        label="Comment"
        error={errors['comment']}
        rows={2}
        maxLength={MOST_CHARACTERS}
        value={comment}
        onChange={(text) => setUnsent((before) => ({ ...before, comment: text }))}
      />
      {answer.isError && (
        <Alert
          onRetry={
            isSettled ? () => reload.mutate() : mayTryAgain(answer.error) ? () => act(answer.variables) : undefined
          }
          isRetrying={reload.isPending}
        >
          {Object.keys(errors).length > 0 ? 'Some fields need another value.' : explain(reload.error ?? answer.error)}
        </Alert>
      )}
      <div className="task-buttons">
        {task.actions.map(({ id, label }, index) => (
          <Button
            key={id}
            variant={index === 0 ? 'primary' : 'plain'}
            isBusy={answer.isPending && answer.variables === id}
            disabled={isUploading(values)}
            onClick={() => act(id)}
          >
            {label}
          </Button>
        ))}
      </div>
    </div>
  );
}
