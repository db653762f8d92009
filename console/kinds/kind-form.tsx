import type { ReactNode } from 'react';
import type { NodeKind } from '../drawing/drawing.js';
import type { JsonObject } from '../../graph/json.js';
import { isFormed, listIn } from '../forms/combined-tests.js';
import { ConditionTests, hasRightSide, hintOf, operatorOf } from '../forms/condition-field.js';
import { InMore, Layers, Properties, SchemaField } from '../forms/schema-field.js';
import { propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { groupsOf, withoutGroups } from './kind-fields.js';
import { HandleList } from './handle-list.js';
import { HttpForm } from './http.js';
import { HumanForm } from './human.js';
import { ModelForm } from './model.js';
import { TriggerForm } from './trigger.js';

interface KindFormProps {
  kind: NodeKind;
  data: JsonObject;
  /** Renders the links of a list item that is a handle. */
  renderTargets: (path: Path) => ReactNode;
  onChange: (path: Path, value: unknown) => void;
}

/**
 * The kind's own fields, then the groups of fields that every kind has. A group is folded if none of its fields is set,
 * as in most nodes.
 */
export function KindForm(props: KindFormProps) {
  const { kind, data, onChange } = props;
  return (
    <>
      <OwnForm {...props} />
      {groupsOf(kind.schema).map(({ heading, fields, keys }) => (
        <details key={heading} className="form-more" open={keys.some((key) => Object.hasOwn(data, key)) || undefined}>
          <summary>{heading}</summary>
          <div className="form-more-fields">
            <InMore value>
              <Properties schema={fields} path={[]} value={data} onChange={onChange} />
            </InMore>
          </div>
        </details>
      ))}
    </>
  );
}

/** Kinds without a form in this folder get the generic form. */
function OwnForm({ kind, data, renderTargets, onChange }: KindFormProps) {
  const schema = withoutGroups(kind.schema);
  switch (kind.type) {
    case 'trigger-node':
      return <TriggerForm schema={schema} data={data} onChange={onChange} />;
    case 'if-else-node':
      return <ConditionForm schema={schema} data={data} onChange={onChange} />;
    case 'basic-node':
    case 'agent-node':
      return <ModelForm schema={schema} data={data} onChange={onChange} />;
    case 'human-node':
      return (
        <HumanForm schema={schema} data={data} onChange={onChange}>
          <HandleList
            kind={kind}
            data={data}
            field="actions"
            renderTargets={(at) => renderTargets(['actions', at])}
            onChange={onChange}
          />
        </HumanForm>
      );
    case 'http-node':
      return <HttpForm schema={schema} data={data} onChange={onChange} />;
    default:
      return partsOf(schema, kind.handles_from).map((part) =>
        typeof part === 'string' ? (
          <HandleList
            key={part}
            kind={kind}
            data={data}
            field={part}
            renderTargets={(at) => renderTargets([part, at])}
            onChange={onChange}
          />
        ) : (
          <Layers
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

/** Splits the fields at the list of handles: fields before it, the list's name, fields after it. */
function partsOf(schema: JsonObject, listed: string | undefined): (JsonObject | string)[] {
  const entries = Object.entries(propertiesOf(schema));
  const at = entries.findIndex(([key]) => key === listed);
  if (listed === undefined || at < 0) return [schema];
  const part = (some: typeof entries): JsonObject => ({ ...schema, properties: Object.fromEntries(some) });
  return [part(entries.slice(0, at)), listed, part(entries.slice(at + 1))];
}

interface ConditionFormProps {
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

/** The condition, with an explanation of the rule. */
function ConditionForm({ schema, data, onChange }: ConditionFormProps) {
  const field = propertiesOf(schema)['condition'] ?? {};
  const { condition } = data;
  const word = operatorOf(condition);
  const label = titleOf(field, 'condition');
  const own = { schema: field, path: ['condition'], value: condition, onChange };
  if (!isFormed(condition)) return <SchemaField {...own} label={label} />;
  const list = listIn(condition);
  return (
    <fieldset className="form-group form-plain" data-path="condition">
      <legend className="hidden-text">{label}</legend>
      <ConditionTests {...own} />
      <p className="field-hint">
        {list === undefined
          ? `Goes on by True where the left side ${wordOf(word)}${hasRightSide(field, condition) ? ' the right side' : ''}, else by False. ${hintOf(word)}`
          : `Goes on by True where ${list.name === 'all' ? 'all' : 'at least one'} of the tests above ${list.name === 'all' ? 'hold' : 'holds'}, else by False.`}
      </p>
    </fieldset>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  '==': 'equals',
  '!=': 'differs from',
  '>': 'is greater than',
  '<': 'is less than',
  '>=': 'is at least',
  '<=': 'is at most',
  not_contains: 'does not contain',
  in: 'is one of the items of',
};

function wordOf(sign: string): string {
  return (Object.hasOwn(WORDS, sign) ? WORDS[sign] : undefined) ?? sign.replaceAll('_', ' ');
}
