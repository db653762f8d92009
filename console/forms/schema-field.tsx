// The generic form shows a field by its schema, whatever the kind of the node. Controls that hold other fields are in
// this file, because each of them may hold every other one.
import { createContext, lazy, Suspense, use, useId, useState, type ComponentType, type ReactNode } from 'react';
import { ErrorBoundary } from '../service/problem.js';
import { startValue } from '../drawing/change-drawing.js';
import { asArray, asObject, asText, isObject, isEqualJson } from '../ui/json.js';
import { Button } from '../ui/button.js';
import { Hint, SelectField } from '../ui/fields.js';
import { Loading } from '../ui/notices.js';
import {
  ChoiceField,
  ConditionField,
  NumberField,
  RecordField,
  SuggestionsField,
  SwitchField,
  VariableText,
} from './fields.js';
import { FormContext, useFieldError, type SchemaFieldProps } from './form.js';
import './forms.css';
import { isSet, layersOf, onlyFields, withoutFields, withoutOtherModes } from './layers.js';
import {
  descriptionOf,
  hasConstants,
  isRequired,
  propertiesOf,
  shapeOf,
  titleOf,
  variantOptions,
  variantsOf,
  withoutNull,
} from './schema.js';
import type { SourceEditorProps } from './source-editor.js';
import { fromJsonText, isJson, toJsonText } from './values.js';
import { Preview } from './variable-input.js';

export function SchemaField(props: SchemaFieldProps) {
  const key = String(props.path.at(-1) ?? '');
  const shape = shapeOf(props.schema, key);
  const plain = { ...props, schema: withoutNull(props.schema) };
  const ofPage = use(FormContext).fieldOf?.(asText(plain.schema['format']) ?? '', plain);
  if (ofPage !== undefined) return ofPage;
  switch (shape) {
    case 'constant':
      return null;
    case 'choice':
      return <ChoiceField {...plain} />;
    case 'suggestions':
      return <SuggestionsField {...plain} />;
    case 'text':
    case 'long text':
      return <VariableText {...plain} isLong={shape === 'long text'} />;
    case 'code':
      return <CodeField {...plain} />;
    case 'number':
      return <NumberField {...plain} />;
    case 'boolean':
      return <SwitchField {...plain} />;
    case 'record':
      return <RecordField {...plain} />;
    case 'condition':
      return <ConditionField {...plain} />;
    case 'object':
      return <ObjectField {...plain} />;
    case 'list':
      return <ListField {...plain} />;
    case 'variants':
      return <VariantsField {...plain} />;
    case 'json':
    default:
      return <JsonField {...plain} />;
  }
}

/** The fields of an object in the order of its schema. A value that the schema does not know is kept and not shown. */
export function Properties({ schema, path, value, onChange }: Omit<SchemaFieldProps, 'label'>) {
  const owner = asObject(value);
  return Object.entries(propertiesOf(schema)).map(([key, property]) => (
    <SchemaField
      key={key}
      schema={property}
      path={[...path, key]}
      label={titleOf(property, key)}
      value={Object.hasOwn(owner, key) ? owner[key] : undefined}
      isRequired={isRequired(schema, key)}
      onChange={onChange}
    />
  ));
}

interface LayersProps extends Omit<SchemaFieldProps, 'label'> {
  /** What is needed stands elsewhere: of these fields only those with a value come first. */
  isRest?: boolean;
}

/**
 * The fields that a person needs first, and the others under `More`. A field stays where it is as long as the form is
 * open, so that nothing jumps away while somebody writes.
 */
export function Layers(props: LayersProps) {
  const { schema, path, value, isRest = false, onChange } = props;
  const isInMore = use(InMore);
  const owner = asObject(value);
  const [begun] = useState(() => new Set(Object.keys(owner).filter((key) => isSet(schema, key, owner))));
  const fields = withoutOtherModes(schema, owner);
  if (isInMore) return <Properties schema={fields} path={path} value={value} onChange={onChange} />;
  const [first, more] = isRest
    ? [onlyFields(fields, [...begun]), withoutFields(fields, [...begun])]
    : layersOf(fields, begun);
  return (
    <>
      <Properties schema={first} path={path} value={value} onChange={onChange} />
      <More schema={more} path={path} value={value} onChange={onChange} />
    </>
  );
}

/** Fields that most nodes leave as they are. A problem in one of them opens it. */
function More({ schema, path, value, onChange }: Omit<SchemaFieldProps, 'label'>) {
  const { errors } = use(FormContext);
  const keys = Object.keys(propertiesOf(schema));
  if (keys.length === 0) return null;
  const places = keys.map((key) => [...path, key].join('.'));
  const hasProblem = [...errors.keys()].some((at) =>
    places.some((place) => at === place || at.startsWith(`${place}.`)),
  );
  return (
    <details className="form-more" open={hasProblem || undefined}>
      <summary>More</summary>
      <div className="form-more-fields">
        <InMore value>
          <Properties schema={schema} path={path} value={value} onChange={onChange} />
        </InMore>
      </div>
    </details>
  );
}

/** Nothing in `More` has a `More` of its own. */
export const InMore = createContext(false);

function ObjectField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      <Layers schema={schema} path={path} value={value} onChange={onChange} />
    </fieldset>
  );
}

/** Each item is a group with its fields and its buttons. */
function ListField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const items = asArray(value);
  const item = asObject(schema['items']);
  const isFull = typeof schema['maxItems'] === 'number' && items.length >= schema['maxItems'];
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {items.map((each, at) => {
        const field = { schema: item, path: [...path, at], value: each, onChange };
        const name = `${label} ${at + 1}`;
        return (
          <fieldset className="form-item" key={at}>
            <legend className="form-legend">{name}</legend>
            {shapeOf(item, '') === 'object' ? (
              <Layers {...field} />
            ) : (
              <SchemaField {...field} label={variantsOf(item).length > 1 ? 'Type' : name} isRequired />
            )}
            <ItemButtons name={name} at={at} items={items} onChange={(next) => onChange(path, next)} />
          </fieldset>
        );
      })}
      {error !== undefined && <p className="field-error">{error}</p>}
      <Button disabled={isFull} onClick={() => onChange(path, [...items, startValue(item)])}>
        Add to {label}
      </Button>
    </fieldset>
  );
}

/** A choice among several forms: words, or objects with fields of their own. Other alternatives are edited as JSON. */
function VariantsField(props: SchemaFieldProps) {
  const { schema, path, label, value, onChange } = props;
  const error = useFieldError(path);
  const options = variantOptions(schema);
  if (options.length === 0) return <JsonField {...props} />;
  const current = value === undefined ? schema['default'] : value;
  const at = options.findIndex((option) =>
    option.schema === undefined ? option.value === current : isObject(current) && hasConstants(option.schema, current),
  );
  const chosen = options[at]?.schema;
  const choices = options.map((option, index) => ({ value: String(index), label: option.label }));
  return (
    <div className="form-variants" data-path={path.join('.')}>
      <SelectField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        value={at < 0 ? '' : String(at)}
        options={at < 0 ? [{ value: '', label: 'Choose…' }, ...choices] : choices}
        onChange={(index) => {
          const option = options[Number(index)];
          if (index === '' || option === undefined) return;
          onChange(path, option.schema === undefined ? option.value : startValue(option.schema));
        }}
      />
      {chosen !== undefined && <Layers key={at} schema={chosen} path={path} value={current} onChange={onChange} />}
    </div>
  );
}

interface ItemButtonsProps {
  /** The name of the item. */
  name: string;
  at: number;
  items: readonly unknown[];
  onChange: (items: unknown[]) => void;
}

/** Moves one item of a list, or takes it out. */
export function ItemButtons({ name, at, items, onChange }: ItemButtonsProps) {
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

const JsonEditor = lazy(() => import('./json-editor.js').then((part) => ({ default: part.JsonEditor })));

/** Any JSON. A text that is no JSON is kept as a text, and the field says so. */
function JsonField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const [written, setWritten] = useState(() => toJsonText(value));
  const text = isEqualJson(fromJsonText(written), value) ? written : toJsonText(value);
  const looksBroken = /^\s*[[{](?!\{)/.test(text) && !isJson(text);
  return (
    <EditorField
      schema={schema}
      path={path}
      label={label}
      editor={JsonEditor}
      value={text}
      preview={<Preview value={value} />}
      problem={looksBroken ? 'This is not complete JSON yet; as it is, it is a text.' : undefined}
      onChange={(next) => {
        setWritten(next);
        onChange(path, fromJsonText(next));
      }}
    />
  );
}

const CodeEditor = lazy(() => import('./code-editor.js').then((part) => ({ default: part.CodeEditor })));

/** The editor of JavaScript. */
function CodeField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  return (
    <EditorField
      schema={schema}
      path={path}
      label={label}
      editor={CodeEditor}
      value={asText(value) ?? ''}
      onChange={(next) => onChange(path, next)}
    />
  );
}

interface EditorFieldProps extends Pick<SchemaFieldProps, 'schema' | 'path' | 'label'> {
  /** The editor may be loaded when it is first shown. */
  editor: ComponentType<Pick<SourceEditorProps, 'attributes' | 'value' | 'isReadOnly' | 'onChange'>>;
  value: string;
  /** A problem of the value that is known before the service has checked it. */
  problem?: string | undefined;
  /** What the value is rendered to. */
  preview?: ReactNode;
  onChange: (value: string) => void;
}

/** A label above an editor, the hint and the errors below. */
function EditorField({ schema, path, label, editor: Editor, value, problem, preview, onChange }: EditorFieldProps) {
  const error = useFieldError(path);
  const { isReadOnly } = use(FormContext);
  const id = useId();
  return (
    <div className="field" data-path={path.join('.')}>
      <span className="field-label" id={id}>
        {label}
      </span>
      <ErrorBoundary>
        <Suspense fallback={<Loading />}>
          <Editor attributes={{ 'aria-labelledby': id }} value={value} isReadOnly={isReadOnly} onChange={onChange} />
        </Suspense>
      </ErrorBoundary>
      {preview}
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {problem !== undefined && <p className="field-error">{problem}</p>}
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  );
}
