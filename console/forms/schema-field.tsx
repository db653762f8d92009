// The generic form: a field by its schema, whatever the kind of the node. What holds other fields is in this file, too,
// because each of them may hold every other one.
import { use } from 'react';
import { asArray, asObject, asText, isObject } from '../drawing/json.js';
import { startValue } from '../drawing/change-drawing.js';
import { Button } from '../ui/button.js';
import { Hint, SelectField } from '../ui/fields.js';
import { ChoiceField } from './choice-field.js';
import { CodeField } from './code-field.js';
import { ConditionField } from './condition-field.js';
import type { SchemaFieldProps } from './field-props.js';
import { FormContext, useFieldError } from './form-context.js';
import './forms.css';
import { ItemButtons } from './item-buttons.js';
import { JsonField } from './json-field.js';
import { NumberField } from './number-field.js';
import { RecordField } from './record-field.js';
import { descriptionOf, isRequired, propertiesOf, shapeOf, titleOf, variantsOf, withoutNull } from './schema.js';
import { SuggestionsField } from './suggestions-field.js';
import { SwitchField } from './switch-field.js';
import { VariableText } from './variable-text.js';
import { hasConstants, variantOptions } from './variant-options.js';

export function SchemaField(props: SchemaFieldProps) {
  const key = String(props.path.at(-1) ?? '');
  const shape = shapeOf(props.schema, key);
  const plain = { ...props, schema: withoutNull(props.schema) };
  const ofPage = use(FormContext).fieldOf?.(asText(plain.schema['format']) ?? '', plain);
  if (ofPage !== undefined) return ofPage;
  switch (shape) {
    case 'constant':
      return null;
    case 'choice':
      return <ChoiceField {...plain} />;
    case 'suggestions':
      return <SuggestionsField {...plain} />;
    case 'text':
    case 'long text':
      return <VariableText {...plain} isLong={shape === 'long text'} />;
    case 'code':
      return <CodeField {...plain} />;
    case 'number':
      return <NumberField {...plain} />;
    case 'boolean':
      return <SwitchField {...plain} />;
    case 'record':
      return <RecordField {...plain} />;
    case 'condition':
      return <ConditionField {...plain} />;
    case 'object':
      return <ObjectField {...plain} />;
    case 'list':
      return <ListField {...plain} />;
    case 'variants':
      return <VariantsField {...plain} />;
    case 'json':
    default:
      return <JsonField {...plain} />;
  }
}

/** The fields of an object, in the order of its schema; what the schema does not know is kept and not shown. */
export function Properties({ schema, path, value, onChange }: Omit<SchemaFieldProps, 'label'>) {
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

function ObjectField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      <Properties schema={schema} path={path} value={value} onChange={onChange} />
    </fieldset>
  );
}

/** Each item is a group with its fields and its buttons. */
function ListField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const items = asArray(value);
  const item = asObject(schema['items']);
  const isFull = typeof schema['maxItems'] === 'number' && items.length >= schema['maxItems'];
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {items.map((each, at) => {
        const field = { schema: item, path: [...path, at], value: each, onChange };
        const name = `${label} ${at + 1}`;
        return (
          <fieldset className="form-item" key={at}>
            <legend className="form-legend">{name}</legend>
            {shapeOf(item, '') === 'object' ? (
              <Properties {...field} />
            ) : (
              <SchemaField {...field} label={variantsOf(item).length > 1 ? 'Type' : name} isRequired />
            )}
            <ItemButtons name={name} at={at} items={items} onChange={(next) => onChange(path, next)} />
          </fieldset>
        );
      })}
      {error !== undefined && <p className="field-error">{error}</p>}
      <Button disabled={isFull} onClick={() => onChange(path, [...items, startValue(item)])}>
        Add to {label}
      </Button>
    </fieldset>
  );
}

/** One of several forms: words to choose from, or an object with fields of its own. Other alternatives are JSON. */
function VariantsField(props: SchemaFieldProps) {
  const { schema, path, label, value, onChange } = props;
  const error = useFieldError(path);
  const options = variantOptions(schema);
  if (options.length === 0) return <JsonField {...props} />;
  const current = value === undefined ? schema['default'] : value;
  const at = options.findIndex((option) =>
    option.schema === undefined ? option.value === current : isObject(current) && hasConstants(option.schema, current),
  );
  const chosen = options[at]?.schema;
  const choices = options.map((option, index) => ({ value: String(index), label: option.label }));
  return (
    <div className="form-variants" data-path={path.join('.')}>
      <SelectField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        value={at < 0 ? '' : String(at)}
        options={at < 0 ? [{ value: '', label: 'Choose…' }, ...choices] : choices}
        onChange={(index) => {
          const option = options[Number(index)];
          if (index === '' || option === undefined) return;
          onChange(path, option.schema === undefined ? option.value : startValue(option.schema));
        }}
      />
      {chosen !== undefined && <Properties schema={chosen} path={path} value={current} onChange={onChange} />}
    </div>
  );
}
