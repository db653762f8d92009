import { useFieldError } from '../forms/form-context.js';
import { MASK } from '../drawing/drawing.js';
import { descriptionOf, propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { asArray, asText, isObject, type JsonObject } from '../drawing/json.js';
import { CheckboxField, SelectField, TextField } from '../ui/fields.js';
import { toFieldId } from './field-id.js';
import { OptionsField } from './options-field.js';

interface InputFieldProps {
  schema: JsonObject;
  path: Path;
  field: JsonObject;
  others: readonly unknown[];
  onChange: (field: JsonObject) => void;
}

const TYPES = ['text', 'textarea', 'number', 'checkbox', 'select', 'json'];

/** One field of a run's input. Its name in variables follows the title until somebody writes another one. */
export function InputField({ schema, path, field, others, onChange }: InputFieldProps) {
  const properties = propertiesOf(schema);
  const set = (key: string, value: unknown): void => onChange({ ...field, [key]: value });
  const text = (key: string) => ({
    label: titleOf(properties[key] ?? {}, key),
    value: toText(field[key]),
    onChange: (value: string) => set(key, value),
  });
  const [id, title, type] = [asText(field['id']) ?? '', asText(field['title']) ?? '', asText(field['type']) ?? 'text'];
  const idError = useFieldError([...path, 'id']);
  const follows = id === '' || id === toFieldId(title, others);
  const retitle = (next: string): void =>
    onChange({ ...field, title: next, ...(follows && { id: toFieldId(next, others) }) });
  /** A stored secret stays secret: a field that becomes public begins without it. */
  const setSecret = (isSecret: boolean): void => {
    const losesDefault = !isSecret && field['default_value'] === MASK;
    onChange({ ...field, is_secret: isSecret, ...(losesDefault && { default_value: '' }) });
  };
  const types = TYPES.includes(type) ? TYPES : [...TYPES, type];
  const defaultHint =
    field['default_value'] === MASK ? 'A secret is stored here. It is kept until you write another.' : undefined;
  return (
    <div className="form-variants">
      <div className="form-row">
        <TextField {...text('title')} onChange={retitle} />
        <div data-path={[...path, 'id'].join('.')}>
          <TextField {...text('id')} hint={`Used as {{ input.${id} }}`} error={idError} isRequired />
        </div>
      </div>
      <div className="form-row">
        <SelectField {...text('type')} value={type} options={types.map((each) => ({ value: each, label: each }))} />
        <TextField
          {...text('default_value')}
          hint={defaultHint}
          type={field['is_secret'] === true ? 'password' : 'text'}
          autoComplete="new-password"
        />
      </div>
      {type === 'select' && (
        <OptionsField options={asArray(field['options'])} onChange={(options) => set('options', options)} />
      )}
      <div className="form-row">
        <TextField {...text('placeholder')} />
        <TextField {...text('tooltip')} />
      </div>
      <div className="form-row">
        {['input_requirements', 'is_secret'].map((key) => (
          <CheckboxField
            key={key}
            label={titleOf(properties[key] ?? {}, key)}
            hint={descriptionOf(properties[key] ?? {})}
            isChecked={field[key] === true}
            onChange={(isChecked) => (key === 'is_secret' ? setSecret(isChecked) : set(key, isChecked))}
          />
        ))}
      </div>
    </div>
  );
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(isObject(value) ? value : (value as unknown));
}
