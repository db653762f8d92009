import { lazy, Suspense, use, useId } from 'react';
import { ErrorBoundary } from '../app/error-boundary.js';
import { asText } from '../graph/json.js';
import { Hint } from '../ui/hint.js';
import { Loading } from '../ui/loading.js';
import type { SchemaFieldProps } from './field-props.js';
import { FormContext, useFieldError } from './form-context.js';
import { descriptionOf } from './schema.js';

const CodeEditor = lazy(() => import('./code-editor.js').then((part) => ({ default: part.CodeEditor })));

/** JavaScript. */
export function CodeField({ schema, path, label, value, onChange }: SchemaFieldProps) {
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
          <CodeEditor
            labelledBy={id}
            value={asText(value) ?? ''}
            isReadOnly={isReadOnly}
            onChange={(next) => onChange(path, next)}
          />
        </Suspense>
      </ErrorBoundary>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  );
}
