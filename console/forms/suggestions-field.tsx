import { useState } from 'react';
import { asArray } from '../drawing/json.js';
import type { SchemaFieldProps } from './field-props.js';
import { SchemaSelect } from './schema-select.js';
import { VariableText } from './variable-text.js';

const OTHER = '\u0000other';

/** The schema's examples to choose from; a text of one's own where none of them serves. */
export function SuggestionsField(props: SchemaFieldProps) {
  const { schema, path, value, onChange } = props;
  const examples = asArray(schema['examples']).map(String);
  const current = value === undefined || value === null ? schema['default'] : value;
  const isExample = typeof current === 'string' && examples.includes(current);
  const [isOwn, setIsOwn] = useState(!isExample && current !== undefined);
  if (isOwn) return <VariableText {...props} />;
  const options = examples.map((example) => ({ value: example, label: example }));
  return (
    <SchemaSelect
      field={props}
      value={isExample ? current : ''}
      options={[
        ...(isExample ? [] : [{ value: '', label: 'Choose…' }]),
        ...options,
        { value: OTHER, label: 'Another value…' },
      ]}
      onChoose={(chosen) => {
        if (chosen === OTHER) setIsOwn(true);
        else onChange(path, chosen);
      }}
    />
  );
}
