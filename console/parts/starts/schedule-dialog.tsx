import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { writeJson } from '../../../graph/json-text.js';
import { api, unwrap } from '../../service/api.js';
import { fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { useChange } from '../../service/queries.js';
import type { JsonObject } from '../../../graph/json.js';
import { asObject, parseExact } from '../../ui/json.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { CheckboxField, SelectField, TextField } from '../../ui/fields.js';
import { Loading } from '../../ui/notices.js';
import { RepeatFields } from './repeat-fields.js';
import { RunFieldControl } from '../run-input/run-field.js';
import { isUploading, ONLY_JSON, runFields, toInput, toTexts, type RunField } from '../run-input/run-input.js';
import {
  changeSchedule,
  fieldsOfSchedule,
  makeSchedule,
  newFields,
  OVERLAPS,
  timeZones,
  toBody,
  type Schedule,
} from './schedule-data.js';

interface ScheduleDialogProps {
  workflowId: number;
  /** The schedule to edit; a new one by default. */
  of?: Schedule | undefined;
  /** The initial cron expression of a new schedule. */
  cron?: string;
  onClose: () => void;
  onMade?: () => void;
}

/** Loads the workflow first, because its trigger decides the fields of the form. */
export function ScheduleDialog(props: ScheduleDialogProps) {
  const { workflowId, of, onClose } = props;
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['workflow', workflowId, 'run-fields'],
    queryFn: async ({ signal }) => {
      const params = { path: { id: workflowId } };
      const { data: drawing, project: projectId } = await unwrap(
        api.GET('/api/v1/workflows/{id}/', { params, signal }),
      );
      return { fields: runFields(drawing, new Map()), projectId };
    },
  });
  const title = of === undefined ? 'New schedule' : 'Edit schedule';
  if (data !== undefined) return <ScheduleForm {...props} title={title} {...data} />;
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
  projectId: number;
}

function ScheduleForm({
  workflowId,
  of,
  cron: times = '',
  onClose,
  onMade,
  title,
  fields,
  projectId,
}: ScheduleFormProps) {
  const [form, setForm] = useState(() => (of === undefined ? newFields(times) : fieldsOfSchedule(of)));
  // `JSON.stringify` writes numbers of `parseExact` with all their digits.
  const [stored] = useState(() => (of === undefined ? {} : parseExact(writeJson(of.input))));
  const [initial] = useState(() => writtenInput(fields, stored));
  const [written, setWritten] = useState(initial);
  const inputOf = ({ values }: WrittenInput): JsonObject => ({
    ...toInput(fields, values),
    ...unchangedValues(stored, initial.values, values),
  });
  const input = readInput(written, inputOf);
  const save = (): Promise<Schedule> => {
    // Whoever changes the input becomes the author, so an unchanged input is omitted.
    const body = { ...toBody(form), ...(written !== initial || of === undefined ? { input } : {}) };
    return of === undefined ? makeSchedule(workflowId, body) : changeSchedule(workflowId, of.id, body);
  };
  const change = useChange(save, {
    invalidates: ['schedules'],
    announcement: of === undefined ? 'The schedule is made.' : 'The schedule is changed.',
    onSuccess: () => {
      onMade?.();
      onClose();
    },
  });
  const errors = fieldErrors(change.error);
  const set = (changed: Partial<typeof form>): void => setForm({ ...form, ...changed });
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
      <RepeatFields cron={form.cron} onChange={(text) => set({ cron: text })} error={errors['cron']} />
      <SelectField
        label="Time zone"
        value={form.timeZone}
        options={timeZones}
        onChange={(timeZone) => set({ timeZone })}
        error={errors['time_zone']}
      />
      <ScheduleInput
        fields={fields}
        projectId={projectId}
        written={written}
        inputOf={inputOf}
        onChange={setWritten}
        error={errors['input']}
      />
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
        hint="Each run starts later by a random time up to this one."
        inputMode="numeric"
        value={form.jitter}
        onChange={(jitter) => set({ jitter })}
        error={errors['jitter_seconds']}
      />
      <TextField
        label="Catch up in seconds"
        hint="A run that the service missed while it was down still starts if it is at most this late."
        inputMode="numeric"
        value={form.catchup}
        onChange={(catchup) => set({ catchup })}
        error={errors['catchup_seconds']}
      />
    </Dialog>
  );
}

/** The input being edited: by the trigger's fields, or as JSON. */
interface WrittenInput {
  values: ReadonlyMap<string, string>;
  json: string | undefined;
}

/** Returns the initial input, as JSON if it is no object or has a key that is no field of the trigger. */
function writtenInput(fields: readonly RunField[], input: unknown): WrittenInput {
  const values = toTexts(fields, input ?? {});
  return values === undefined
    ? { values: new Map(), json: JSON.stringify(input, null, 2) }
    : { values, json: undefined };
}

/**
 * Returns the stored values of the fields whose texts are unchanged, because a text does not say whether the value was
 * null, a number or a text.
 */
function unchangedValues(
  stored: unknown,
  initial: ReadonlyMap<string, string>,
  values: ReadonlyMap<string, string>,
): JsonObject {
  const isUnchanged = (id: string): boolean => initial.has(id) && values.get(id) === initial.get(id);
  return Object.fromEntries(Object.entries(asObject(stored)).filter(([id]) => isUnchanged(id)));
}

/** Returns undefined while the text is not JSON or a file is uploading. An empty text is an empty input. */
function readInput(written: WrittenInput, inputOf: (written: WrittenInput) => JsonObject): unknown {
  const { values, json } = written;
  if (json === undefined) return isUploading(values) ? undefined : inputOf(written);
  if (json.trim() === '') return {};
  try {
    return parseExact(json);
  } catch {
    return undefined;
  }
}

interface ScheduleInputProps {
  fields: readonly RunField[];
  projectId: number;
  written: WrittenInput;
  /** Returns the input of the fields. */
  inputOf: (written: WrittenInput) => JsonObject;
  onChange: (change: (before: WrittenInput) => WrittenInput) => void;
  error: string | undefined;
}

function ScheduleInput({ fields, projectId, written, inputOf, onChange, error }: ScheduleInputProps) {
  const { values, json } = written;
  const isJson = json !== undefined;
  const texts = isJson ? toTexts(fields, readInput(written, inputOf)) : values;
  return (
    <fieldset className="schedule-input">
      <legend>Input of the runs</legend>
      {!isJson && fields.length === 0 && <p>This workflow asks for no input.</p>}
      {!isJson &&
        fields.map((field) => (
          <RunFieldControl
            key={field.id}
            field={field}
            projectId={projectId}
            value={values.get(field.id) ?? field.start}
            onChange={(value) =>
              onChange((before) => ({ ...before, values: new Map(before.values).set(field.id, value) }))
            }
          />
        ))}
      {isJson && (
        <TextField
          label="Input as JSON"
          rows={5}
          value={json}
          onChange={(text) => onChange(() => ({ values, json: text }))}
          spellCheck={false}
          error={readInput(written, inputOf) === undefined ? 'This is no JSON yet.' : undefined}
        />
      )}
      {error !== undefined && <p className="field-error">{error}</p>}
      <CheckboxField
        label="Write the input as JSON"
        isChecked={isJson}
        hint={texts === undefined ? ONLY_JSON : undefined}
        onChange={(asJson) => {
          if (asJson) onChange((before) => ({ ...before, json: JSON.stringify(inputOf(before), null, 2) }));
          else if (texts !== undefined) onChange(() => ({ values: texts, json: undefined }));
        }}
      />
    </fieldset>
  );
}
