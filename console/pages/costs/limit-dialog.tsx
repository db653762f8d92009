import { useState } from 'react';
import { api, unwrap } from '../../app/api.js';
import { fieldErrors } from '../../app/explain.js';
import { Problem } from '../../app/problem.js';
import { useChange } from '../../app/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/fields.js';
import type { Project } from '../settings/use-projects.js';

type Limit = NonNullable<Project['spending_limit']>;

const PERIOD_CHOICES: { value: Limit['period']; label: string }[] = [
  { value: 'day', label: 'A day' },
  { value: 'month', label: 'A month' },
  { value: 'total', label: 'In all' },
];
const FIELDS = ['spending_limit', 'spending_limit.amount', 'spending_limit.period'];

interface LimitDialogProps {
  /** One of them gets the limit. */
  projects: readonly Project[];
  onClose: () => void;
}

export function LimitDialog({ projects, onClose }: LimitDialogProps) {
  const [id, setId] = useState(String(projects[0]?.id ?? ''));
  const known = projects.find((project) => String(project.id) === id)?.spending_limit ?? null;
  const [amount, setAmount] = useState(known?.amount ?? '');
  const [period, setPeriod] = useState<Limit['period']>(known?.period ?? 'month');
  const change = useChange(
    (limit: Limit | null) =>
      unwrap(
        api.PATCH('/api/v1/projects/{id}/', { params: { path: { id: Number(id) } }, body: { spending_limit: limit } }),
      ),
    { invalidates: ['projects', 'spending'], said: 'The limit is changed.', onSuccess: onClose },
  );
  const errors = fieldErrors(change.error);
  return (
    <Dialog
      title={known === null ? 'Set a limit' : 'Change the limit'}
      onClose={onClose}
      footer={
        <>
          {known !== null && (
            <Button isBusy={change.isPending} onClick={() => change.mutate(null)}>
              Remove the limit
            </Button>
          )}
          <Button
            variant="primary"
            isBusy={change.isPending}
            onClick={() => change.mutate({ amount: amount.trim(), period })}
          >
            Save
          </Button>
        </>
      }
    >
      <Problem error={change.error} fields={FIELDS} />
      <p>A model call that could pass the limit is not made, and its run fails. What has begun is paid for.</p>
      {projects.length > 1 && (
        <SelectField
          label="Project"
          value={id}
          onChange={setId}
          options={projects.map((project) => ({ value: String(project.id), label: project.name }))}
        />
      )}
      <TextField
        label="Limit in USD"
        value={amount}
        onChange={setAmount}
        inputMode="decimal"
        placeholder="25.00"
        error={errors['spending_limit.amount'] ?? errors['spending_limit']}
        isRequired
      />
      <SelectField
        label="Period"
        hint="Days and months begin at midnight UTC."
        value={period}
        onChange={(value) => setPeriod(PERIOD_CHOICES.find((choice) => choice.value === value)?.value ?? 'month')}
        options={PERIOD_CHOICES}
      />
    </Dialog>
  );
}
