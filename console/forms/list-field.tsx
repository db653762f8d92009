import { asArray, asObject } from '../graph/json.js';
import { startValue } from '../graph/start-value.js';
import { Button } from '../ui/button.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { Properties } from './object-field.js';
import { SchemaField } from './schema-field.js';
import { descriptionOf, shapeOf } from './schema.js';

/** A list of anything that the schema knows: each item is a group with its fields and its buttons. */
export function ListField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const items = asArray(value);
  const item = asObject(schema['items']);
  const isFull = typeof schema['maxItems'] === 'number' && items.length >= schema['maxItems'];
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {descriptionOf(schema) !== undefined && <p className="field-hint">{descriptionOf(schema)}</p>}
      {items.map((each, at) => (
        <fieldset className="form-item" key={at}>
          <legend className="form-legend">{`${label} ${at + 1}`}</legend>
          {shapeOf(item, '') === 'object' ? (
            <Properties schema={item} path={[...path, at]} label={label} value={each} onChange={onChange} />
          ) : (
            <SchemaField
              schema={item}
              path={[...path, at]}
              label={`${label} ${at + 1}`}
              value={each}
              isRequired
              onChange={onChange}
            />
          )}
          <ItemButtons label={label} at={at} items={items} onChange={(next) => onChange(path, next)} />
        </fieldset>
      ))}
      {error !== undefined && <p className="field-error">{error}</p>}
      <Button disabled={isFull} onClick={() => onChange(path, [...items, startValue(item)])}>
        Add to {label}
      </Button>
    </fieldset>
  );
}

interface ItemButtonsProps {
  label: string;
  at: number;
  items: readonly unknown[];
  onChange: (items: unknown[]) => void;
}

export function ItemButtons({ label, at, items, onChange }: ItemButtonsProps) {
  const name = `${label} ${at + 1}`;
  const move = (to: number): void => onChange(items.toSpliced(at, 1).toSpliced(to, 0, items[at]));
  return (
    <div className="form-item-buttons">
      <Button variant="quiet" disabled={at === 0} aria-label={`Move ${name} up`} onClick={() => move(at - 1)}>
        ↑
      </Button>
      <Button
        variant="quiet"
        disabled={at === items.length - 1}
        aria-label={`Move ${name} down`}
        onClick={() => move(at + 1)}
      >
        ↓
      </Button>
      <Button variant="quiet" aria-label={`Remove ${name}`} onClick={() => onChange(items.toSpliced(at, 1))}>
        Remove
      </Button>
    </div>
  );
}
