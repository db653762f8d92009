import { asArray, asText, type JsonObject } from '../graph/json.js';
import { startValue } from '../graph/start-value.js';
import { SelectField } from '../ui/select-field.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { JsonField } from './json-field.js';
import { Properties } from './object-field.js';
import { descriptionOf, propertiesOf, typesOf, variantsOf } from './schema.js';

/** One of several forms: words to choose from, or an object with fields of its own. Other alternatives are JSON. */
export function VariantsField(props: SchemaFieldProps) {
  const { schema, path, label, value, onChange } = props;
  const error = useFieldError(path);
  const options = variantsOf(schema).flatMap(toOptions);
  if (options.length === 0) return <JsonField {...props} />;
  const current = value === undefined ? schema['default'] : value;
  const at = options.findIndex((option) =>
    option.schema === undefined ? option.value === current : typeof current === 'object' && current !== null,
  );
  const chosen = options[at];
  return (
    <div className="form-variants" data-path={path.join('.')}>
      <SelectField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        value={at < 0 ? '' : String(at)}
        options={[
          ...(at < 0 ? [{ value: '', label: 'Choose…' }] : []),
          ...options.map((option, index) => ({ value: String(index), label: option.label })),
        ]}
        onChange={(index) => {
          const option = options[Number(index)];
          if (option !== undefined)
            onChange(path, option.schema === undefined ? option.value : startValue(option.schema));
        }}
      />
      {chosen?.schema !== undefined && (
        <Properties schema={chosen.schema} path={path} label={label} value={current} onChange={onChange} />
      )}
    </div>
  );
}

interface Option {
  label: string;
  value?: unknown;
  /** Of an object with fields. */
  schema?: JsonObject;
}

function toOptions(variant: JsonObject): Option[] {
  const words = asArray(variant['enum'] ?? (Object.hasOwn(variant, 'const') ? [variant['const']] : []));
  if (words.length > 0) return words.map((word) => ({ label: String(word), value: word }));
  const keys = Object.keys(propertiesOf(variant));
  if (!typesOf(variant).includes('object') || keys.length === 0) return [];
  return [{ label: asText(variant['title']) ?? `By ${keys.join(' and ')}`, schema: variant }];
}
