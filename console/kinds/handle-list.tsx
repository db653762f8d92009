import { useState, type ReactNode } from 'react';
import { itemTitle, listSchema, startItem } from '../drawing/change-drawing.js';
import { dataOf, nodesOf, type Drawing, type NodeKind } from '../drawing/drawing.js';
import { useStore } from '../drawing/editor-store.js';
import { setAt } from '../drawing/links.js';
import type { JsonObject } from '../../graph/json.js';
import { focusAdded } from '../forms/focus.js';
import { useFieldError } from '../forms/form.js';
import { ItemButtons, Layers } from '../forms/schema-field.js';
import { descriptionOf, isRequired, propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { Button } from '../ui/button.js';
import { Hint, RequiredMark, TextField } from '../ui/fields.js';
import { asArray, asObject, asText } from '../ui/json.js';
import { toUniqueId } from './kind-fields.js';

interface HandleListProps {
  kind: NodeKind;
  data: JsonObject;
  /** The field whose items are handles. */
  field: string;
  /** Renders the links of the item at `index`. */
  renderTargets: (index: number) => ReactNode;
  onChange: (path: Path, value: unknown) => void;
}

/** The list of a node's exits: each with label, id, the other fields of its schema, and its links. */
export function HandleList({ kind, data, field, renderTargets, onChange }: HandleListProps) {
  const error = useFieldError([field]);
  const list = listSchema(kind, field);
  const value = data[field];
  const items = asArray(value ?? list['default']);
  const title = itemTitle(list);
  const isFull = typeof list['maxItems'] === 'number' && items.length >= list['maxItems'];
  const hint = descriptionOf(list);
  const reserved = [...kind.handles.map(({ id }) => ({ id })), { id: 'error' }, { id: 'default' }, { id: 'timeout' }];
  const set = (path: Path, written: unknown): void => {
    // The first change also writes the service's default value into the data.
    if (value === undefined && path.length > 1)
      onChange([field], asObject(setAt({ [field]: items }, path, written))[field]);
    else onChange(path, written);
  };
  return (
    <fieldset className="form-group" data-path={field}>
      <legend className="form-legend">
        {titleOf(list, field)}
        {isRequired(kind.schema, field) && <RequiredMark />}
      </legend>
      {hint !== undefined && <Hint>{hint}</Hint>}
      {items.map((item, at) => (
        <fieldset className="form-item" key={at}>
          <legend className="form-legend">{nameOf(item, `${title} ${at + 1}`)}</legend>
          <Item
            title={title}
            schema={asObject(list['items'])}
            nodeId={asText(data['id']) ?? ''}
            path={[field, at]}
            item={asObject(item)}
            others={[...items.toSpliced(at, 1), ...reserved]}
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
      <Button
        disabled={isFull}
        onClick={() => {
          onChange([field], [...items, startItem(kind, list, items)]);
          focusAdded([field, items.length, 'label']);
        }}
      >
        Add {title.toLowerCase()}
      </Button>
    </fieldset>
  );
}

interface ItemProps {
  title: string;
  schema: JsonObject;
  nodeId: string;
  path: Path;
  item: JsonObject;
  /** Objects whose ids are taken. */
  others: readonly unknown[];
  onChange: (path: Path, value: unknown) => void;
}

/** Fields edited elsewhere: `id` and `label` in a row above the other fields, `node` by the links below them. */
const APART = new Set(['id', 'label', 'node']);

/** The id is made from the label until a person writes another id, or another node uses the id. */
function Item({ title, schema, nodeId, path, item, others, onChange }: ItemProps) {
  const store = useStore();
  const idError = useFieldError([...path, 'id']);
  const own = Object.entries(propertiesOf(schema)).filter(([key]) => !APART.has(key));
  const [id, label] = [asText(item['id']) ?? '', asText(item['label']) ?? ''];
  // The id whose label was emptied. This id stays until a label is written, and then follows that label.
  const [unlabelledId, setUnlabelledId] = useState<string>();
  const isUnlabelled = label.trim() === '' && id === unlabelledId;
  // Derived from the present values, because another item comes to this place when items are moved or removed.
  const isMade = id === '' || isUnlabelled || id === toUniqueId(label, others);
  const relabel = (next: string): void => {
    const isEmpty = next.trim() === '';
    setUnlabelledId(isMade && isEmpty ? id : undefined);
    if (isMade && !isEmpty && !isMentioned(store.drawing, nodeId, id))
      onChange(path, { ...item, label: next, id: toUniqueId(next, others) });
    else onChange([...path, 'label'], next);
  };
  const setId = (next: string): void => {
    setUnlabelledId(undefined);
    onChange([...path, 'id'], next);
  };
  return (
    <>
      <div className="form-row">
        <div data-path={[...path, 'label'].join('.')}>
          <TextField label={`${title} label`} value={label} onChange={relabel} />
        </div>
        <div data-path={[...path, 'id'].join('.')}>
          <TextField label={`${title} ID`} error={idError} isRequired spellCheck={false} value={id} onChange={setId} />
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

/** True if the data of another node has the id as a text, such as a condition that compares the chosen action. */
function isMentioned(drawing: Drawing, nodeId: string, id: string): boolean {
  const text = JSON.stringify(id);
  return [...nodesOf(drawing).values()].some(
    (node) => node.id !== nodeId && JSON.stringify(dataOf(node)).includes(text),
  );
}

/** Returns the item's display name, the same as at the card's exit. */
function nameOf(item: unknown, otherwise: string): string {
  const { label, id } = asObject(item);
  return [asText(label), asText(id)].find((text) => text !== undefined && text.trim() !== '') ?? otherwise;
}
