import type { SchemaFieldProps } from '../../forms/form.js';
import { onlyFields, withoutFields } from '../../forms/layers.js';
import { Layers, Properties } from '../../forms/schema-field.js';
import { CheckboxField } from '../../ui/fields.js';
import { asObject } from '../../ui/json.js';
import { policySentence } from './approval-policy.js';

/** A workflow that the agent may run. */
export function WorkflowTool({ schema, path, value, onChange }: Omit<SchemaFieldProps, 'label'>) {
  const policy = asObject(value)['require_approval'];
  const own = { path, value, onChange };
  return (
    <>
      <Properties schema={onlyFields(schema, ['workflow_id'])} {...own} />
      <CheckboxField
        label="Ask before calling"
        hint={policySentence(policy, [])}
        isChecked={policy !== 'never'}
        onChange={(asks) => onChange([...path, 'require_approval'], asks ? 'always' : 'never')}
      />
      <Layers schema={withoutFields(schema, ['type', 'workflow_id', 'require_approval'])} {...own} isRest />
    </>
  );
}
