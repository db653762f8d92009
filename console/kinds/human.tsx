import type { ReactNode } from 'react';
import type { JsonObject } from '../../graph/json.js';
import { onlyFields, withoutFields } from '../forms/layers.js';
import { Layers, Properties } from '../forms/schema-field.js';
import { propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { Hint } from '../ui/fields.js';
import { InputFields } from './input-fields.js';

interface HumanFormProps {
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
  /** The list of actions. */
  children: ReactNode;
}

const FIRST = ['message', 'fields', 'actions'];

/** Form of a human task: the question, what the person enters, and the buttons. */
export function HumanForm({ schema, data, onChange, children }: HumanFormProps) {
  const own = { path: [], value: data, onChange };
  const fields = propertiesOf(schema)['fields'] ?? {};
  return (
    <>
      <Properties schema={onlyFields(schema, ['message'])} {...own} />
      <fieldset className="form-group" data-path="fields">
        <legend className="form-legend">{titleOf(fields, 'fields')}</legend>
        <Hint>What the person enters. Without fields there are only the buttons.</Hint>
        <InputFields
          schema={fields}
          path={['fields']}
          value={data['fields']}
          noun="field"
          usedAs={(id) => `Later nodes read it as values.${id} of the result`}
          onChange={onChange}
        />
      </fieldset>
      {children}
      <Layers schema={withoutFields(schema, FIRST)} {...own} isRest />
    </>
  );
}
