import type { SchemaFieldProps } from '../../forms/form.js';
import { onlyFields, withoutFields } from '../../forms/layers.js';
import { Layers, Properties } from '../../forms/schema-field.js';
import { Problem } from '../../service/problem.js';
import { CheckboxField, Hint } from '../../ui/fields.js';
import { asObject, asText } from '../../ui/json.js';
import { useAction } from '../actions/service-actions.js';
import { policySentence } from './approval-policy.js';

const OWN = ['type', 'service', 'id', 'connection', 'require_approval'];

/** An action of a service. Its calls wait for a person if it has side effects, unless the form says otherwise. */
export function ActionTool({ schema, path, value, onChange }: Omit<SchemaFieldProps, 'label'>) {
  const { service, id, require_approval: policy } = asObject(value);
  const action = useAction(asText(service) ?? '', asText(id) ?? '');
  // Until the action is known, it counts as one that has side effects.
  const asks = policy === 'always' || (policy !== 'never' && action.data?.has_side_effects !== false);
  const own = { path, value, onChange };
  return (
    <>
      <Hint>{action.data?.title ?? `${asText(service) ?? ''}: ${asText(id) ?? ''}`}</Hint>
      <Problem error={action.error} onRetry={() => void action.refetch()} isRetrying={action.isFetching} />
      <Properties schema={onlyFields(schema, ['connection'])} {...own} />
      <CheckboxField
        label="Ask before calling"
        hint={policySentence(asks ? 'always' : 'never', [])}
        isChecked={asks}
        onChange={(next) => onChange([...path, 'require_approval'], next ? 'always' : 'never')}
      />
      <Layers schema={withoutFields(schema, OWN)} {...own} isRest />
    </>
  );
}
