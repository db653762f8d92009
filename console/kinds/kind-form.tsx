import type { ReactNode } from 'react';
import { Properties } from '../forms/schema-field.js';
import { propertiesOf, type Path } from '../forms/schema.js';
import type { JsonObject } from '../drawing/json.js';
import type { NodeKind } from '../drawing/drawing.js';
import { ConditionForm } from './condition.js';
import { groupsOf, withoutGroups } from './groups.js';
import { HandleList } from './handle-list.js';
import { TriggerForm } from './trigger.js';

interface KindFormProps {
  kind: NodeKind;
  data: JsonObject;
  /** Where an item of the data leads to that is a handle. */
  renderTargets: (path: Path) => ReactNode;
  onChange: (path: Path, value: unknown) => void;
}

/** The kind's own fields, and below them what every node may say, which most nodes leave as it is. */
export function KindForm(props: KindFormProps) {
  const { kind, data, onChange } = props;
  return (
    <>
      <OwnForm {...props} />
      {groupsOf(kind.schema).map(({ heading, fields, keys }) => (
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
function OwnForm({ kind, data, renderTargets, onChange }: KindFormProps) {
  const schema = withoutGroups(kind.schema);
  switch (kind.type) {
    case 'trigger-node':
      return <TriggerForm schema={schema} data={data} onChange={onChange} />;
    case 'if-else-node':
      return <ConditionForm schema={schema} data={data} onChange={onChange} />;
    default:
      return partsOf(schema, kind.handles_from).map((part) =>
        typeof part === 'string' ? (
          <HandleList
            key={part}
            kind={kind}
            field={part}
            value={data[part]}
            renderTargets={(at) => renderTargets([part, at])}
            onChange={onChange}
          />
        ) : (
          <Properties
            key={Object.keys(propertiesOf(part)).join()}
            schema={part}
            path={[]}
            value={data}
            onChange={onChange}
          />
        ),
      );
  }
}

/** The fields in their order: those before the list of handles, the name of this list, and those behind it. */
function partsOf(schema: JsonObject, listed: string | undefined): (JsonObject | string)[] {
  const entries = Object.entries(propertiesOf(schema));
  const at = entries.findIndex(([key]) => key === listed);
  if (listed === undefined || at < 0) return [schema];
  const part = (some: typeof entries): JsonObject => ({ ...schema, properties: Object.fromEntries(some) });
  return [part(entries.slice(0, at)), listed, part(entries.slice(at + 1))];
}
