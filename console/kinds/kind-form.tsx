import type { ReactNode } from 'react';
import { itemTitle, listSchema, startItem } from '../drawing/change-drawing.js';
import type { NodeKind } from '../drawing/drawing.js';
import type { JsonObject } from '../../graph/json.js';
import { asArray, asObject, asText } from '../ui/json.js';
import { setAt } from '../drawing/links.js';
import { ConditionRow, hasRightSide, hintOf, operatorOf, useIsCombined } from '../forms/fields.js';
import { useFieldError } from '../forms/form.js';
import { InMore, ItemButtons, Layers, Properties, SchemaField } from '../forms/schema-field.js';
import { descriptionOf, propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { Button } from '../ui/button.js';
import { Hint, TextField } from '../ui/fields.js';
import { groupsOf, withoutGroups } from './kind-fields.js';
import { HttpForm } from './http.js';
import { ModelForm } from './model.js';
import { TriggerForm } from './trigger.js';

interface KindFormProps {
  kind: NodeKind;
  data: JsonObject;
  /** Renders the links of a list item that is a handle. */
  renderTargets: (path: Path) => ReactNode;
  onChange: (path: Path, value: unknown) => void;
}

/** The kind's own fields, followed by the folded groups of fields that every kind has and most nodes leave unset. */
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
    case 'http-node':
      return <HttpForm schema={schema} data={data} onChange={onChange} />;
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

interface HandleListProps {
  kind: NodeKind;
  /** The field whose items are handles. */
  field: string;
  value: unknown;
  /** Renders the links of the item at `index`. */
  renderTargets: (index: number) => ReactNode;
  onChange: (path: Path, value: unknown) => void;
}

/** The list of a node's exits: each with label, id, the other fields of its schema, and its links. */
function HandleList({ kind, field, value, renderTargets, onChange }: HandleListProps) {
  const error = useFieldError([field]);
  const list = listSchema(kind, field);
  const items = asArray(value ?? list['default']);
  const title = itemTitle(list);
  const isFull = typeof list['maxItems'] === 'number' && items.length >= list['maxItems'];
  const hint = descriptionOf(list);
  const set = (path: Path, written: unknown): void => {
    // The first change also writes the service's default value into the data.
    if (value === undefined && path.length > 1)
      onChange([field], asObject(setAt({ [field]: items }, path, written))[field]);
    else onChange(path, written);
  };
  return (
    <fieldset className="form-group" data-path={field}>
      <legend className="form-legend">{titleOf(list, field)}</legend>
      {hint !== undefined && <Hint>{hint}</Hint>}
      {items.map((item, at) => (
        <fieldset className="form-item" key={at}>
          <legend className="form-legend">{nameOf(item, `${title} ${at + 1}`)}</legend>
          <Item
            title={title}
            schema={asObject(list['items'])}
            path={[field, at]}
            item={asObject(item)}
            onChange={set}
          />
          {renderTargets(at)}
          <ItemButtons
            name={nameOf(item, `${title} ${at + 1}`)}
            at={at}
            items={items}
            onChange={(next) => onChange([field], next)}
          />
        </fieldset>
      ))}
      {error !== undefined && <p className="field-error">{error}</p>}
      <Button disabled={isFull} onClick={() => onChange([field], [...items, startItem(kind, list, items)])}>
        Add {title.toLowerCase()}
      </Button>
    </fieldset>
  );
}

interface ItemProps {
  title: string;
  schema: JsonObject;
  path: Path;
  item: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

/** Edited elsewhere: `id` and `label` in a row above the other fields, `node` by the links below them. */
const APART = new Set(['id', 'label', 'node']);

function Item({ title, schema, path, item, onChange }: ItemProps) {
  const idError = useFieldError([...path, 'id']);
  const own = Object.entries(propertiesOf(schema)).filter(([key]) => !APART.has(key));
  const text = (key: string) => ({
    value: asText(item[key]) ?? '',
    onChange: (written: string) => onChange([...path, key], written),
  });
  return (
    <>
      <div className="form-row">
        <div data-path={[...path, 'label'].join('.')}>
          <TextField label={`${title} label`} {...text('label')} />
        </div>
        <div data-path={[...path, 'id'].join('.')}>
          <TextField label={`${title} ID`} error={idError} isRequired spellCheck={false} {...text('id')} />
        </div>
      </div>
      <Layers
        schema={{ ...schema, properties: Object.fromEntries(own) }}
        path={path}
        value={item}
        onChange={onChange}
      />
    </>
  );
}

/** Returns the item's display name, the same as at the card's exit. */
function nameOf(item: unknown, otherwise: string): string {
  const { label, id } = asObject(item);
  return [asText(label), asText(id)].find((text) => text !== undefined && text.trim() !== '') ?? otherwise;
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
  if (useIsCombined(condition)) {
    const label = titleOf(field, 'condition');
    return <SchemaField schema={field} path={['condition']} label={label} value={condition} onChange={onChange} />;
  }
  return (
    <>
      <ConditionRow schema={field} path={['condition']} value={condition} onChange={onChange} />
      <p className="field-hint">
        Goes on by True where the left side {wordOf(word)}
        {hasRightSide(field, condition) && ' the right side'}, else by False. {hintOf(word)}
      </p>
    </>
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
