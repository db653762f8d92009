import { useState, type ReactNode } from 'react';
import { parseExact } from '../../ui/json.js';
import { CheckboxField, TextField } from '../../ui/fields.js';
import { RunFieldControl } from './run-field.js';
import { isUploading, ONLY_JSON, toInput, toTexts, type RunField } from './run-input.js';

interface RunInputForm {
  /** Undefined while the text is not JSON or a file is uploading. */
  input: unknown;
  values: ReadonlyMap<string, string>;
  form: ReactNode;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

/** What a person has typed: texts by field id, and the text of the JSON while the input is written as JSON. */
interface Typed {
  values: ReadonlyMap<string, string>;
  json: string | undefined;
}

export const NOTHING_TYPED: Typed = { values: NOTHING, json: undefined };

interface RunInputOptions {
  fields: readonly RunField[];
  projectId: number;
  /** Initial texts by field id. */
  initial?: ReadonlyMap<string, string>;
  /** Set if the caller keeps the typed input: this input, and a function that changes it. */
  kept?: [Typed, (change: (before: Typed) => Typed) => void];
}

/**
 * Form for the input of a run, by the trigger's fields or as JSON. Ctrl+Enter in the JSON submits the surrounding form.
 */
export function useRunInput({ fields, projectId, initial = NOTHING, kept }: RunInputOptions): RunInputForm {
  const own = useState<Typed>({ values: initial, json: undefined });
  const [{ values, json }, setTyped] = kept ?? own;
  const setJson = (text: string): void => setTyped((before) => ({ ...before, json: text }));
  const ofFields = isUploading(values) ? undefined : toInput(fields, values);
  const input = json === undefined ? ofFields : parse(json);
  const texts = json === undefined ? values : toTexts(fields, input);
  const form = (
    <>
      {json === undefined ? (
        <Fields
          {...{ fields, projectId, values }}
          onChange={(id, value) => setTyped((before) => ({ ...before, values: new Map(before.values).set(id, value) }))}
        />
      ) : (
        <TextField
          label="Input as JSON"
          rows={8}
          value={json}
          onChange={setJson}
          spellCheck={false}
          onKeyDown={(event) => {
            const isMeant = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
            if (isMeant && input !== undefined) event.currentTarget.form?.requestSubmit();
          }}
          error={input === undefined ? 'This is no JSON yet.' : undefined}
        />
      )}
      <CheckboxField
        label="Write the input as JSON"
        isChecked={json !== undefined}
        hint={texts === undefined ? ONLY_JSON : undefined}
        onChange={(isJson) => {
          if (isJson) setJson(JSON.stringify(toInput(fields, values), null, 2));
          else if (texts !== undefined) setTyped(() => ({ values: texts, json: undefined }));
        }}
      />
    </>
  );
  return { input, values, form };
}

interface FieldsProps {
  fields: readonly RunField[];
  projectId: number;
  values: ReadonlyMap<string, string>;
  onChange: (id: string, value: string) => void;
}

function Fields({ fields, projectId, values, onChange }: FieldsProps) {
  if (fields.length === 0) return <p>This workflow asks for no input.</p>;
  return fields.map((field) => (
    <RunFieldControl
      key={field.id}
      field={field}
      projectId={projectId}
      value={values.get(field.id) ?? field.start}
      onChange={(value) => onChange(field.id, value)}
    />
  ));
}

/** Returns undefined if the text is not JSON. An empty text is an empty input. */
function parse(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
