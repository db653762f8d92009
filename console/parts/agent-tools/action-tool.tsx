import type { SchemaFieldProps } from '../../forms/form.js';
import { onlyFields, withoutFields } from '../../forms/layers.js';
import { InMore, Layers, Properties } from '../../forms/schema-field.js';
import { CheckboxField, Hint } from '../../ui/fields.js';
import { isObject } from '../../../graph/json.js';
import { asObject, asText } from '../../ui/json.js';
import { useAction } from '../../service/services.js';
import { ActionHead, ActionProblem, factsOf } from '../actions/action-head.js';
import { policySentence } from './approval-policy.js';

const OWN = ['type', 'service', 'id', 'connection', 'values', 'require_approval'];

type ActionToolProps = Omit<SchemaFieldProps, 'label'> & { projectId: number };

/**
 * An action of a service, as a tool. Calls wait for a person if the action has side effects, unless the form says
 * otherwise.
 */
export function ActionTool({ projectId, schema, path, value, onChange }: ActionToolProps) {
  const tool = asObject(value);
  const { require_approval: policy, values } = tool;
  const [serviceId, actionId] = [asText(tool['service']) ?? '', asText(tool['id']) ?? ''];
  const action = useAction(serviceId, actionId);
  const isStored = isObject(tool['action']) && tool['refresh'] !== true;
  const { title, fields } = factsOf(action.data ?? asObject(tool['action']));
  // Until the action is known, it counts as one that has side effects.
  const asks = policy === 'always' || (policy !== 'never' && action.data?.has_side_effects !== false);
  const own = { path, value, onChange };
  return (
    <>
      <ActionHead {...{ projectId, serviceId }} title={title ?? actionId} />
      <ActionProblem
        action={action}
        paths={[path, [...path, 'id']]}
        onRefresh={isStored ? () => onChange([...path, 'refresh'], true) : undefined}
      />
      <Properties schema={onlyFields(schema, ['connection'])} {...own} />
      <CheckboxField
        label="Ask before calling"
        hint={policySentence(asks ? 'always' : 'never', [])}
        isChecked={asks}
        onChange={(next) => onChange([...path, 'require_approval'], next ? 'always' : 'never')}
      />
      {fields !== undefined && (
        <details className="form-more">
          <summary>Fixed values</summary>
          <div className="form-more-fields">
            <Hint>The model gives the others, and does not see these.</Hint>
            <InMore value>
              <Properties
                schema={{ ...fields, required: [] }}
                path={[...path, 'values']}
                value={values}
                onChange={onChange}
              />
            </InMore>
          </div>
        </details>
      )}
      <Layers schema={withoutFields(schema, OWN)} {...own} isRest />
    </>
  );
}
