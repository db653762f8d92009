import { CheckboxField, TextField } from '../../../ui/fields.js';
import { parseExact } from '../../../drawing/json.js';
import { RunFieldControl } from '../../workflow/run-field.js';
import { toInput, type RunField } from '../../workflow/run-input.js';

/** The input as it is being written: by the fields of the trigger, or as JSON. */
export interface WrittenInput {
  values: ReadonlyMap<string, string>;
  json: string | undefined;
}

/** What the form begins with. An input that the fields cannot hold begins as JSON. */
export function writtenInput(fields: readonly RunField[], input: unknown): WrittenInput {
  const entries = Object.entries((input ?? {}) as Record<string, unknown>);
  const isFields = typeof input === 'object' && !Array.isArray(input);
  if (!isFields || entries.some(([key]) => !fields.some(({ id }) => id === key))) {
    return { values: new Map(), json: JSON.stringify(input, null, 2) };
  }
  const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return { values: new Map(entries.map(([key, value]) => [key, toText(value)])), json: undefined };
}

/** Undefined where the text is no JSON; nothing is an empty input. */
export function readInput(fields: readonly RunField[], { values, json }: WrittenInput): unknown {
  if (json === undefined) return toInput(fields, values);
  if (json.trim() === '') return {};
  try {
    return parseExact(json);
  } catch {
    return undefined;
  }
}

interface ScheduleInputProps {
  fields: readonly RunField[];
  written: WrittenInput;
  onChange: (written: WrittenInput) => void;
  error: string | undefined;
}

export function ScheduleInput({ fields, written, onChange, error }: ScheduleInputProps) {
  const { values, json } = written;
  const isJson = json !== undefined;
  return (
    <fieldset className="schedule-input">
      <legend>Input of the runs</legend>
      {!isJson && fields.length === 0 && <p>This workflow asks for no input.</p>}
      {!isJson &&
        fields.map((field) => (
          <RunFieldControl
            key={field.id}
            field={field}
            value={values.get(field.id) ?? field.start}
            onChange={(value) => onChange({ json, values: new Map(values).set(field.id, value) })}
          />
        ))}
      {isJson && (
        <TextField
          label="Input as JSON"
          rows={5}
          value={json}
          onChange={(text) => onChange({ values, json: text })}
          spellCheck={false}
          error={readInput(fields, written) === undefined ? 'This is no JSON yet.' : undefined}
        />
      )}
      {error !== undefined && <p className="field-error">{error}</p>}
      <CheckboxField
        label="Write the input as JSON"
        isChecked={isJson}
        onChange={(asJson) =>
          onChange({ values, json: asJson ? JSON.stringify(toInput(fields, values), null, 2) : undefined })
        }
      />
    </fieldset>
  );
}
