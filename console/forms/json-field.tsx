import { lazy, Suspense, use, useId, useState } from 'react';
import { ErrorBoundary } from '../app/error-boundary.js';
import { isSameJson } from '../graph/same-json.js';
import { Hint } from '../ui/hint.js';
import { Loading } from '../ui/loading.js';
import type { SchemaFieldProps } from './field-props.js';
import { FormContext, useFieldError } from './form-context.js';
import { fromJsonText, isJson, toJsonText } from './json-text.js';
import { descriptionOf } from './schema.js';

const JsonEditor = lazy(() => import('./json-editor.js').then((part) => ({ default: part.JsonEditor })));

/** Any JSON. What is none is kept as text, and said to be one. */
export function JsonField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const { isReadOnly } = use(FormContext);
  const [written, setWritten] = useState(() => toJsonText(value));
  const id = useId();
  const text = isSameJson(fromJsonText(written), value) ? written : toJsonText(value);
  const looksBroken = /^\s*[[{](?!\{)/.test(text) && !isJson(text);
  return (
    <div className="field" data-path={path.join('.')}>
      <span className="field-label" id={id}>
        {label}
      </span>
      <ErrorBoundary>
        <Suspense fallback={<Loading />}>
          <JsonEditor
            labelledBy={id}
            value={text}
            isReadOnly={isReadOnly}
            onChange={(next) => {
              setWritten(next);
              onChange(path, fromJsonText(next));
            }}
          />
        </Suspense>
      </ErrorBoundary>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {looksBroken && <p className="field-error">This is not complete JSON yet; as it is, it is a text.</p>}
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  );
}
