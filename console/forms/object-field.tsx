import { asObject } from '../graph/json.js';
import type { SchemaFieldProps } from './field-props.js';
import { SchemaField } from './schema-field.js';
import { descriptionOf, isRequired, propertiesOf, titleOf } from './schema.js';

export function ObjectField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {descriptionOf(schema) !== undefined && <p className="field-hint">{descriptionOf(schema)}</p>}
      <Properties schema={schema} path={path} label={label} value={value} onChange={onChange} />
    </fieldset>
  );
}

/** The fields of an object, in the order of its schema; what the schema does not know is kept and not shown. */
export function Properties({ schema, path, value, onChange }: SchemaFieldProps) {
  const owner = asObject(value);
  return Object.entries(propertiesOf(schema)).map(([key, property]) => (
    <SchemaField
      key={key}
      schema={property}
      path={[...path, key]}
      label={titleOf(property, key)}
      value={Object.hasOwn(owner, key) ? owner[key] : undefined}
      isRequired={isRequired(schema, key)}
      onChange={onChange}
    />
  ));
}
