import { Properties } from '../forms/schema-field.js';
import type { Path } from '../forms/schema.js';
import type { JsonObject } from '../graph/json.js';
import { ConditionForm } from './condition.js';
import { TriggerForm } from './trigger.js';

interface KindFormProps {
  /** The `type` of the kind's nodes. */
  type: string;
  /** Of the kind's data, as the service gives it: titles are taken from there. */
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

/** A kind's own form where it has one in this folder; every other kind has the generic one. */
export function KindForm({ type, ...props }: KindFormProps) {
  switch (type) {
    case 'trigger-node':
      return <TriggerForm {...props} />;
    case 'if-else-node':
      return <ConditionForm {...props} />;
    default:
      return <Properties schema={props.schema} path={[]} value={props.data} onChange={props.onChange} />;
  }
}
