import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../../app/api.js';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { SelectField, TextField } from '../../../ui/fields.js';
import { Loading } from '../../../ui/notices.js';
import { runFields, type RunField } from '../../workflow/run-input.js';
import { fieldsOfSchedule, inWords, newFields, OVERLAPS, timeZones, toBody } from './schedule-fields.js';
import { readInput, ScheduleInput, writtenInput } from './schedule-input.js';
import { changeSchedule, makeSchedule, type Schedule } from './use-schedules.js';

interface ScheduleDialogProps {
  workflowId: number;
  /** Absent: a new one. */
  of?: Schedule | undefined;
  onClose: () => void;
}

/** What the form asks for depends on the workflow's trigger. */
export function ScheduleDialog(props: ScheduleDialogProps) {
  const { workflowId, of, onClose } = props;
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['workflow', workflowId, 'run-fields'],
    queryFn: async ({ signal }) => {
      const params = { path: { id: workflowId } };
      const { data: drawing } = await unwrap(api.GET('/api/v1/workflows/{id}/', { params, signal }));
      return runFields(drawing, new Map());
    },
  });
  const title = of === undefined ? 'New schedule' : 'Edit schedule';
  if (data !== undefined) return <ScheduleForm {...props} title={title} fields={data} />;
  return (
    <Dialog title={title} onClose={onClose}>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {error === null && <Loading />}
    </Dialog>
  );
}

interface ScheduleFormProps extends ScheduleDialogProps {
  title: string;
  fields: readonly RunField[];
}

function ScheduleForm({ workflowId, of, onClose, title, fields }: ScheduleFormProps) {
  const [form, setForm] = useState(() => (of === undefined ? newFields() : fieldsOfSchedule(of)));
  const [written, setWritten] = useState(() => writtenInput(fields, of === undefined ? {} : of.input));
  const [begun] = useState(written);
  const input = readInput(fields, written);
  const save = (): Promise<Schedule> => {
    // What nobody has touched stays as it is stored, digit by digit.
    const body = { ...toBody(form), ...(written !== begun || of === undefined ? { input } : {}) };
    return of === undefined ? makeSchedule(workflowId, body) : changeSchedule(workflowId, of.id, body);
  };
  const change = useChange(save, {
    invalidates: ['schedules'],
    said: of === undefined ? 'The schedule is made.' : 'The schedule is changed.',
    onSuccess: onClose,
  });
  const errors = fieldErrors(change.error);
  const set = (changed: Partial<typeof form>): void => setForm({ ...form, ...changed });
  const words = inWords(form.cron);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      holdsText
      footer={
        <Button
          variant="primary"
          isBusy={change.isPending}
          disabled={input === undefined}
          onClick={() => !change.isPending && change.mutate()}
        >
          {of === undefined ? 'Make schedule' : 'Save schedule'}
        </Button>
      }
    >
      <Problem
        error={change.error}
        fields={['cron', 'time_zone', 'overlap', 'jitter_seconds', 'catchup_seconds', 'input']}
      />
      <TextField
        label="Cron expression"
        hint={words ?? 'Minute, hour, day of the month, month, day of the week'}
        autoComplete="off"
        spellCheck={false}
        value={form.cron}
        onChange={(cron) => set({ cron })}
        error={errors['cron']}
        maxLength={300}
        isRequired
      />
      <SelectField
        label="Time zone"
        value={form.timeZone}
        options={timeZones}
        onChange={(timeZone) => set({ timeZone })}
        error={errors['time_zone']}
      />
      <ScheduleInput fields={fields} written={written} onChange={setWritten} error={errors['input']} />
      <SelectField
        label="While a run is open"
        hint={OVERLAPS.find(({ value }) => value === form.overlap)?.hint}
        value={form.overlap}
        options={OVERLAPS}
        onChange={(chosen) => set({ overlap: OVERLAPS.find(({ value }) => value === chosen)?.value ?? 'skip' })}
        error={errors['overlap']}
      />
      <TextField
        label="Jitter in seconds"
        hint="Each firing comes late by up to so much, at random."
        type="number"
        inputMode="numeric"
        value={form.jitter}
        onChange={(jitter) => set({ jitter })}
        error={errors['jitter_seconds']}
      />
      <TextField
        label="Catch up in seconds"
        hint="How late a firing may come that the service has slept through."
        type="number"
        inputMode="numeric"
        value={form.catchup}
        onChange={(catchup) => set({ catchup })}
        error={errors['catchup_seconds']}
      />
    </Dialog>
  );
}
