import { ChoiceField } from './choice-field.js';
import type { SchemaFieldProps } from './field-props.js';
import './forms.css';
import { JsonField } from './json-field.js';
import { ListField } from './list-field.js';
import { NumberField } from './number-field.js';
import { ObjectField } from './object-field.js';
import { RecordField } from './record-field.js';
import { shapeOf, withoutNull } from './schema.js';
import { SuggestionsField } from './suggestions-field.js';
import { SwitchField } from './switch-field.js';
import { VariableText } from './variable-text.js';
import { VariantsField } from './variants-field.js';

/** The generic form: one value by its schema, whatever the kind of the node. */
export function SchemaField(props: SchemaFieldProps) {
  const key = String(props.path.at(-1) ?? '');
  const shape = shapeOf(props.schema, key);
  const plain = { ...props, schema: withoutNull(props.schema) };
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
    case 'number':
      return <NumberField {...plain} />;
    case 'boolean':
      return <SwitchField {...plain} />;
    case 'record':
      return <RecordField {...plain} />;
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
