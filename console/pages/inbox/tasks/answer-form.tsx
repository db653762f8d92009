import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ServiceError } from '../../../../clients/typescript/src/index.js';
import { explain, fieldErrors } from '../../../app/explain.js';
import { Button } from '../../../ui/button.js';
import { TextField } from '../../../ui/fields.js';
import { Alert, announce } from '../../../ui/notices.js';
import { RunFieldControl } from '../../workflow/run-field.js';
import { fieldsOf, toInput } from '../../workflow/run-input.js';
import { answerTask, readTask, type Task } from './task-data.js';

const MOST_CHARACTERS = 2_000;

/** The fields of a task, and a button for each of its actions. */
export function AnswerForm({ task, onAnswered }: { task: Task; onAnswered: (task: Task) => void }) {
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const [comment, setComment] = useState('');
  const queries = useQueryClient();
  const fields = fieldsOf(task.fields);
  const answer = useMutation({
    mutationFn: (action: string) =>
      answerTask(task.id, { action, values: toInput(fields, values), comment: comment.trim() }),
    onSuccess: (answered) => {
      announce('Your answer has been taken.');
      onAnswered(answered);
      void queries.invalidateQueries({ queryKey: ['approvals', 'pending', 'total'] });
      void queries.invalidateQueries({ queryKey: ['tasks'] });
    },
  });
  const errors = fieldErrors(answer.error);
  const isSettled = answer.error instanceof ServiceError && answer.error.status === 409;
  const act = (action: string): void => {
    if (!answer.isPending) answer.mutate(action);
  };
  return (
    <div className="request-form">
      {fields.map((field) => (
        <RunFieldControl
          key={field.id}
          field={field}
          error={errors[`values.${field.id}`]}
          value={values.get(field.id) ?? field.start}
          onChange={(value) => setValues(new Map([...values, [field.id, value]]))}
        />
      ))}
      <TextField
        label="Comment"
        error={errors['comment']}
        rows={2}
        maxLength={MOST_CHARACTERS}
        value={comment}
        onChange={setComment}
      />
      {answer.isError && (
        <Alert onRetry={isSettled ? () => void readTask(task.id).then(onAnswered) : () => act(answer.variables)}>
          {Object.keys(errors).length > 0 ? 'Some fields need another value.' : explain(answer.error)}
        </Alert>
      )}
      <div className="task-buttons">
        {task.actions.map(({ id, label }, index) => (
          <Button
            key={id}
            variant={index === 0 ? 'primary' : 'plain'}
            isBusy={answer.isPending && answer.variables === id}
            onClick={() => act(id)}
          >
            {label}
          </Button>
        ))}
      </div>
    </div>
  );
}
