import { ItemButtons } from '../forms/item-buttons.js';
import { propertiesOf, withoutNull, type Path } from '../forms/schema.js';
import { asArray, asObject, type JsonObject } from '../drawing/json.js';
import { Button } from '../ui/button.js';
import { toFieldId } from './field-id.js';
import { InputField } from './input-field.js';

interface TriggerFormProps {
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

/** The fields that a run asks for. */
export function TriggerForm({ schema, data, onChange }: TriggerFormProps) {
  const fields = asArray(data['input_fields']);
  const item = asObject(withoutNull(propertiesOf(schema)['input_fields'] ?? {})['items']);
  const change = (next: readonly unknown[]): void => onChange(['input_fields'], next);
  const add = (): void => {
    const title = `Field ${fields.length + 1}`;
    change([...fields, { id: toFieldId(title, fields), title, type: 'text', input_requirements: false }]);
  };
  return (
    <div className="form-variants" data-path="input_fields">
      <p className="field-hint">
        What a run is started with. Later nodes use a field as a variable, which <em>Insert variable</em> writes for
        you.
      </p>
      {fields.map((field, at) => (
        <fieldset className="form-item" key={at}>
          <legend className="form-legend">{`Input field ${at + 1}`}</legend>
          <InputField
            schema={item}
            path={['input_fields', at]}
            field={asObject(field)}
            others={fields.toSpliced(at, 1)}
            onChange={(next) => change(fields.with(at, next))}
          />
          <ItemButtons name={`Input field ${at + 1}`} at={at} items={fields} onChange={change} />
        </fieldset>
      ))}
      <Button onClick={add}>Add input field</Button>
    </div>
  );
}
