import { Properties } from '../forms/schema-field.js';
import type { Path } from '../forms/schema.js';
import type { JsonObject } from '../graph/json.js';
import { ConditionForm } from './condition.js';
import { groupsOf, withoutGroups } from './groups.js';
import { TriggerForm } from './trigger.js';

interface KindFormProps {
  /** The `type` of the kind's nodes. */
  type: string;
  /** Of the kind's data, as the service gives it: titles are taken from there. */
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

/** The kind's own fields, and below them what every node may say, which most nodes leave as it is. */
export function KindForm({ type, schema, data, onChange }: KindFormProps) {
  return (
    <>
      <OwnForm type={type} schema={withoutGroups(schema)} data={data} onChange={onChange} />
      {groupsOf(schema).map(({ heading, fields, keys }) => (
        <details key={heading} className="form-more" open={keys.some((key) => Object.hasOwn(data, key)) || undefined}>
          <summary>{heading}</summary>
          <div className="form-more-fields">
            <Properties schema={fields} path={[]} value={data} onChange={onChange} />
          </div>
        </details>
      ))}
    </>
  );
}

/** A kind's own form where it has one in this folder; every other kind has the generic one. */
function OwnForm({ type, ...props }: KindFormProps) {
  switch (type) {
    case 'trigger-node':
      return <TriggerForm {...props} />;
    case 'if-else-node':
      return <ConditionForm {...props} />;
    default:
      return <Properties schema={props.schema} path={[]} value={props.data} onChange={props.onChange} />;
  }
}
