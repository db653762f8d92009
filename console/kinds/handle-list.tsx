import type { ReactNode } from 'react';
import { useFieldError } from '../forms/form-context.js';
import { ItemButtons } from '../forms/item-buttons.js';
import { Properties } from '../forms/schema-field.js';
import { descriptionOf, propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { setAt } from '../drawing/links.js';
import { asArray, asObject, asText, type JsonObject } from '../drawing/json.js';
import { itemTitle, listSchema, startItem } from '../drawing/change-drawing.js';
import type { NodeKind } from '../drawing/drawing.js';
import { Button } from '../ui/button.js';
import { Hint, TextField } from '../ui/fields.js';

interface HandleListProps {
  kind: NodeKind;
  /** The field whose items are handles. */
  field: string;
  /** The value of the field. */
  value: unknown;
  /** Where the item at an index leads to. */
  renderTargets: (index: number) => ReactNode;
  onChange: (path: Path, value: unknown) => void;
}

/** The ways out of a node that its data lists: each with its label, its id, what else its schema has, and its targets. */
export function HandleList({ kind, field, value, renderTargets, onChange }: HandleListProps) {
  const error = useFieldError([field]);
  const list = listSchema(kind, field);
  const items = asArray(value ?? list['default']);
  const title = itemTitle(list);
  const isFull = typeof list['maxItems'] === 'number' && items.length >= list['maxItems'];
  const hint = descriptionOf(list);
  const set = (path: Path, written: unknown): void => {
    // What the service would take for granted is written down with the first change.
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

/** Where it leads to is chosen below its fields. */
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
      <Properties
        schema={{ ...schema, properties: Object.fromEntries(own) }}
        path={path}
        value={item}
        onChange={onChange}
      />
    </>
  );
}

/** What the item is called everywhere, as at its way out of the card. */
function nameOf(item: unknown, otherwise: string): string {
  const { label, id } = asObject(item);
  return [asText(label), asText(id)].find((text) => text !== undefined && text.trim() !== '') ?? otherwise;
}
