// The fields in which a person enters something: the input of a run, and the answer to a human task.
import { MASK } from '../../graph/mask-text.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { asArray, asObject, asText } from '../ui/json.js';
import { focusAdded } from '../forms/focus.js';
import { useFieldError } from '../forms/form.js';
import { itemName } from '../forms/item-noun.js';
import { ItemButtons } from '../forms/schema-field.js';
import { descriptionOf, propertiesOf, titleOf, withoutNull, type Path } from '../forms/schema.js';
import { Button } from '../ui/button.js';
import { CheckboxField, SelectField, TextField } from '../ui/fields.js';
import { toUniqueId } from './kind-fields.js';

interface InputFieldsProps {
  /** Schema of the list. */
  schema: JsonObject;
  path: Path;
  value: unknown;
  /** The name of one field in buttons: `input field`. */
  noun: string;
  /** Says how nodes use a field. */
  usedAs: (id: string) => string;
  onChange: (path: Path, value: unknown) => void;
}

export function InputFields({ schema, path, value, noun, usedAs, onChange }: InputFieldsProps) {
  const fields = asArray(value);
  const item = asObject(withoutNull(schema)['items']);
  const change = (next: readonly unknown[]): void => onChange(path, next);
  const add = (): void => {
    const title = `Field ${fields.length + 1}`;
    change([...fields, { id: toUniqueId(title, fields), title, type: 'text', input_requirements: false }]);
    focusAdded([...path, fields.length, 'title']);
  };
  return (
    <>
      {fields.map((field, at) => (
        <fieldset className="form-item" key={at}>
          <legend className="form-legend">{itemName(noun, at)}</legend>
          <InputField
            schema={item}
            path={[...path, at]}
            field={asObject(field)}
            others={fields.toSpliced(at, 1)}
            usedAs={usedAs}
            onChange={(next) => change(fields.with(at, next))}
          />
          <ItemButtons name={itemName(noun, at)} at={at} items={fields} onChange={change} />
        </fieldset>
      ))}
      <Button onClick={add}>Add {noun}</Button>
    </>
  );
}

interface InputFieldProps extends Pick<InputFieldsProps, 'usedAs'> {
  schema: JsonObject;
  path: Path;
  field: JsonObject;
  others: readonly unknown[];
  onChange: (field: JsonObject) => void;
}

/** Types of fields that forms of runs and tasks can show. Any other type stays selected and visible. */
const TYPES: Readonly<Record<string, string>> = {
  text: 'text',
  textarea: 'long text',
  number: 'number',
  checkbox: 'checkbox',
  select: 'choice',
  json: 'JSON',
  file: 'file',
  files: 'files',
};

/** An input field. Its id follows the title until the person edits the id. */
function InputField({ schema, path, field, others, usedAs, onChange }: InputFieldProps) {
  const properties = propertiesOf(schema);
  const set = (key: string, value: unknown): void => onChange({ ...field, [key]: value });
  const text = (key: string) => ({
    label: titleOf(properties[key] ?? {}, key),
    value: toText(field[key]),
    onChange: (value: string) => set(key, value),
  });
  const [id, title, type] = [asText(field['id']) ?? '', asText(field['title']) ?? '', asText(field['type']) ?? 'text'];
  const idError = useFieldError([...path, 'id']);
  const follows = id === '' || id === toUniqueId(title, others);
  const retitle = (next: string): void =>
    onChange({ ...field, title: next, ...(follows && { id: toUniqueId(next, others) }) });
  /** The service never reveals a stored secret, so a field that becomes public loses a stored default value. */
  const setSecret = (isSecret: boolean): void => {
    const losesDefault = !isSecret && field['default_value'] === MASK;
    onChange({ ...field, is_secret: isSecret, ...(losesDefault && { default_value: '' }) });
  };
  const types = Object.entries(TYPES).map(([value, label]) => ({ value, label }));
  const defaultHint =
    field['default_value'] === MASK ? 'A secret is stored here. It is kept until you write another.' : undefined;
  return (
    <div className="form-variants">
      <div className="form-row">
        <div data-path={[...path, 'title'].join('.')}>
          <TextField {...text('title')} onChange={retitle} />
        </div>
        <div data-path={[...path, 'id'].join('.')}>
          <TextField {...text('id')} hint={usedAs(id)} error={idError} isRequired />
        </div>
      </div>
      <div className="form-row">
        <SelectField {...text('type')} value={type} options={types} />
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

interface OptionsFieldProps {
  options: readonly unknown[];
  onChange: (options: readonly unknown[]) => void;
}

/** Edits the options of a select field. An option's value follows its title until the person edits the value. */
function OptionsField({ options, onChange }: OptionsFieldProps) {
  const set = (at: number, change: JsonObject): void =>
    onChange(options.with(at, { ...asObject(options[at]), ...change }));
  return (
    <fieldset className="form-group">
      <legend className="form-legend">Options</legend>
      {options.map((option, at) => {
        const { title, value } = asObject(option);
        const retitle = (next: string): void => set(at, { title: next, ...(value === title && { value: next }) });
        return (
          <div className="form-record" key={at}>
            <input
              className="control"
              aria-label={`Option ${at + 1} title`}
              value={asText(title) ?? ''}
              onChange={({ target }) => retitle(target.value)}
            />
            <input
              className="control"
              aria-label={`Option ${at + 1} value`}
              value={typeof value === 'string' ? value : JSON.stringify(value ?? '')}
              onChange={({ target }) => set(at, { value: target.value })}
            />
            <Button
              variant="quiet"
              aria-label={`Remove option ${at + 1}`}
              onClick={() => onChange(options.toSpliced(at, 1))}
            >
              <span aria-hidden="true">✕</span>
            </Button>
          </div>
        );
      })}
      <Button onClick={() => onChange([...options, { title: '', value: '', is_default: false }])}>Add option</Button>
    </fieldset>
  );
}
