// The generic form: renders a field by its schema, for any kind of node. Controls that contain other fields are in this
// file, because they refer to each other recursively.
import {
  createContext,
  lazy,
  Suspense,
  use,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type ComponentType,
  type ReactNode,
} from 'react';
import { ErrorBoundary } from '../service/problem.js';
import { startValue } from '../drawing/change-drawing.js';
import { isObject, isEqualJson } from '../../graph/json.js';
import { asArray, asObject, asText } from '../ui/json.js';
import { Button } from '../ui/button.js';
import { Hint, RequiredMark, SelectField } from '../ui/fields.js';
import { Loading } from '../ui/notices.js';
import { ChoiceField, NumberField, RecordField, SuggestionsField, SwitchField, VariableText } from './fields.js';
import { isFormed } from './combined-tests.js';
import { ConditionField } from './condition-field.js';
import { DurationField, SECONDS } from './duration-field.js';
import { FormContext, useFieldError, type SchemaFieldProps } from './form.js';
import './forms.css';
import { itemName, itemNoun } from './item-noun.js';
import { isSet, layersOf, onlyFields, withoutFields, withoutOtherModes } from './layers.js';
import {
  descriptionOf,
  hasConstants,
  isRequired as isRequiredIn,
  propertiesOf,
  shapeOf,
  titleOf,
  variantOptions,
  variantsOf,
  withoutNull,
} from './schema.js';
import { Enlarge } from './large-editor.js';
import type { Attributes, SourceEditorProps } from './source-editor.js';
import { fromJsonText, problemOfJson, toJsonText } from './values.js';
import { Preview } from './variable-input.js';

export function SchemaField(props: SchemaFieldProps) {
  const key = String(props.path.at(-1) ?? '');
  const shape = shapeOf(props.schema, key);
  const plain = { ...props, schema: withoutNull(props.schema) };
  const ofPage = use(FormContext).fieldOf?.(asText(plain.schema['format']) ?? '', plain);
  if (ofPage !== undefined) return ofPage;
  if (plain.schema['format'] === SECONDS) return <DurationField {...plain} />;
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
      return isFormed(plain.value) ? <ConditionField {...plain} /> : <JsonField {...plain} />;
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

/** The fields of an object in schema order. Values unknown to the schema are retained, but not shown. */
export function Properties({ schema, path, value, onChange }: Omit<SchemaFieldProps, 'label'>) {
  const owner = asObject(value);
  return Object.entries(propertiesOf(schema)).map(([key, property]) => (
    <SchemaField
      key={key}
      schema={property}
      path={[...path, key]}
      label={titleOf(property, key)}
      value={Object.hasOwn(owner, key) ? owner[key] : undefined}
      isRequired={isRequiredIn(schema, key)}
      onChange={onChange}
    />
  ));
}

interface LayersProps extends Omit<SchemaFieldProps, 'label'> {
  /** True if needed fields are shown elsewhere. Then only the fields that are set at first are shown before `More`. */
  isRest?: boolean;
}

/**
 * The fields that people need first, and the others under `More`. Fields do not move while the form is open, so that
 * nothing jumps while somebody types.
 */
export function Layers(props: LayersProps) {
  const { schema, path, value, isRest = false, onChange } = props;
  const isInMore = use(InMore);
  const owner = asObject(value);
  const [filled] = useState(() => new Set(Object.keys(owner).filter((key) => isSet(schema, key, owner))));
  const fields = withoutOtherModes(schema, owner);
  if (isInMore) return <Properties schema={fields} path={path} value={value} onChange={onChange} />;
  const [first, more] = isRest
    ? [onlyFields(fields, [...filled]), withoutFields(fields, [...filled])]
    : layersOf(fields, filled);
  return (
    <>
      <Properties schema={first} path={path} value={value} onChange={onChange} />
      <More schema={more} path={path} value={value} onChange={onChange} />
    </>
  );
}

/** Fields that most nodes leave unset. Opens if one of them has a problem, and stays open while that is corrected. */
function More({ schema, path, value, onChange }: Omit<SchemaFieldProps, 'label'>) {
  const { errors } = use(FormContext);
  const details = useRef<HTMLDetailsElement>(null);
  const keys = Object.keys(propertiesOf(schema));
  const places = keys.map((key) => [...path, key].join('.'));
  const hasProblem = [...errors.keys()].some((at) =>
    places.some((place) => at === place || at.startsWith(`${place}.`)),
  );
  useLayoutEffect(() => {
    if (hasProblem && details.current !== null) details.current.open = true;
  }, [hasProblem]);
  if (keys.length === 0) return null;
  return (
    <details className="form-more" ref={details}>
      <summary>More</summary>
      <div className="form-more-fields">
        <InMore value>
          <Properties schema={schema} path={path} value={value} onChange={onChange} />
        </InMore>
      </div>
    </details>
  );
}

/** True inside `More` and other folded groups, in which no `More` is nested. */
export const InMore = createContext(false);

function ObjectField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  // An optional object requires its fields only if it is there. The initial state decides, so that fields do not move
  // while the form is open.
  const [isThere] = useState(isRequired || isObject(value));
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      <Layers schema={isThere ? schema : { ...schema, required: [] }} path={path} value={value} onChange={onChange} />
    </fieldset>
  );
}

/** Each item is a group with its fields and buttons. */
function ListField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const items = asArray(value);
  const item = asObject(schema['items']);
  const noun = itemNoun(label, schema);
  const isFull = typeof schema['maxItems'] === 'number' && items.length >= schema['maxItems'];
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">
        {label}
        {isRequired && <RequiredMark />}
      </legend>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {items.map((each, at) => {
        const field = { schema: item, path: [...path, at], value: each, onChange };
        const name = itemName(noun, at);
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
        Add {noun}
      </Button>
    </fieldset>
  );
}

/** Selects among variants: words, or objects with fields of their own. A schema with neither is edited as JSON. */
function VariantsField(props: SchemaFieldProps) {
  const { schema, path, label, value, isRequired, onChange } = props;
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
        isRequired={isRequired}
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
  name: string;
  at: number;
  items: readonly unknown[];
  onChange: (items: unknown[]) => void;
}

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

/**
 * Edits any JSON. Text that is not JSON, or has a number that JavaScript would round, is stored as a text. The field
 * shows a problem if the text looks like incomplete JSON, or has such a number.
 */
function JsonField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  const [written, setWritten] = useState(() => toJsonText(value));
  const text = isEqualJson(fromJsonText(written), value) ? written : toJsonText(value);
  return (
    <EditorField
      schema={schema}
      path={path}
      label={label}
      isRequired={isRequired}
      editor={JsonEditor}
      value={text}
      preview={<Preview value={value} />}
      problem={problemOfJson(text)}
      onChange={(next) => {
        setWritten(next);
        onChange(path, fromJsonText(next));
      }}
    />
  );
}

const CodeEditor = lazy(() => import('./code-editor.js').then((part) => ({ default: part.CodeEditor })));

function CodeField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  const { besideCode } = use(FormContext);
  return (
    <EditorField
      beside={besideCode?.({ path, value, onChange })}
      schema={schema}
      path={path}
      label={label}
      isRequired={isRequired}
      editor={CodeEditor}
      value={asText(value) ?? ''}
      onChange={(next) => onChange(path, next)}
    />
  );
}

interface EditorFieldProps extends Pick<SchemaFieldProps, 'schema' | 'path' | 'label' | 'isRequired'> {
  /** May be lazy, so that its code is loaded on first use. */
  editor: ComponentType<Pick<SourceEditorProps, 'attributes' | 'value' | 'isReadOnly' | 'onChange'>>;
  value: string;
  /** Problem found without the service. */
  problem?: string | undefined;
  /** The rendered value. */
  preview?: ReactNode;
  /** Shown beside the large editor; by default the variables. */
  beside?: ReactNode;
  onChange: (value: string) => void;
}

function EditorField(props: EditorFieldProps) {
  const { schema, path, label, isRequired = false, editor: Editor, value, problem, preview, beside, onChange } = props;
  const error = useFieldError(path);
  const { isReadOnly } = use(FormContext);
  const id = useId();
  const renderEditor = (attributes: Attributes): ReactNode => (
    <ErrorBoundary>
      <Suspense fallback={<Loading />}>
        <Editor attributes={attributes} value={value} isReadOnly={isReadOnly} onChange={onChange} />
      </Suspense>
    </ErrorBoundary>
  );
  return (
    <div className="field" data-path={path.join('.')}>
      <div className="field-head">
        <span className="field-label" id={id}>
          {label}
        </span>
        {isRequired && <RequiredMark />}
        <Enlarge label={label} renderEditor={renderEditor} beside={beside} />
      </div>
      {renderEditor({ 'aria-labelledby': id, ...(isRequired && { 'aria-required': 'true' }) })}
      {preview}
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {problem !== undefined && <p className="field-error">{problem}</p>}
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  );
}
