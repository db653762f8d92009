import { useState } from 'react';
import { asArray } from '../graph/json.js';
import { SelectField } from '../ui/select-field.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { descriptionOf } from './schema.js';
import { VariableText } from './variable-text.js';

const OTHER = '\u0000other';

/** The schema's examples to choose from; a text of one's own where none of them serves. */
export function SuggestionsField(props: SchemaFieldProps) {
  const { schema, path, label, value, isRequired = false, onChange } = props;
  const error = useFieldError(path);
  const examples = asArray(schema['examples']).map(String);
  const current = value === undefined || value === null ? schema['default'] : value;
  const isExample = typeof current === 'string' && examples.includes(current);
  const [isOwn, setIsOwn] = useState(!isExample && current !== undefined);
  if (isOwn) return <VariableText {...props} />;
  const options = examples.map((example) => ({ value: example, label: example }));
  return (
    <div data-path={path.join('.')}>
      <SelectField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        isRequired={isRequired}
        value={isExample ? current : ''}
        options={[
          ...(isExample ? [] : [{ value: '', label: 'Choose…' }]),
          ...options,
          { value: OTHER, label: 'Another value…' },
        ]}
        onChange={(chosen) => {
          if (chosen === OTHER) setIsOwn(true);
          else onChange(path, chosen);
        }}
      />
    </div>
  );
}
