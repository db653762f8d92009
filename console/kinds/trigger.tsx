import type { JsonObject } from '../../graph/json.js';
import { propertiesOf, type Path } from '../forms/schema.js';
import { InputFields } from './input-fields.js';

interface TriggerFormProps {
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

export function TriggerForm({ schema, data, onChange }: TriggerFormProps) {
  return (
    <div className="form-variants" data-path="input_fields">
      <p className="field-hint">
        What a run is started with. Later nodes use a field as a variable, which <em>Insert variable</em> writes for
        you.
      </p>
      <InputFields
        schema={propertiesOf(schema)['input_fields'] ?? {}}
        path={['input_fields']}
        value={data['input_fields']}
        noun="input field"
        usedAs={(id) => `Used as {{ input.${id} }}`}
        onChange={onChange}
      />
    </div>
  );
}
