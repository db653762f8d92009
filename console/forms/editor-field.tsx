import { Suspense, use, useId, type ComponentType } from 'react';
import { ErrorBoundary } from '../app/problem.js';
import { Hint } from '../ui/fields.js';
import { Loading } from '../ui/notices.js';
import type { SchemaFieldProps } from './field-props.js';
import { FormContext, useFieldError } from './form-context.js';
import { descriptionOf } from './schema.js';
import type { SourceEditorProps } from './source-editor.js';

interface EditorFieldProps extends Pick<SchemaFieldProps, 'schema' | 'path' | 'label'> {
  /** It may load when it is first shown. */
  editor: ComponentType<Pick<SourceEditorProps, 'labelledBy' | 'value' | 'isReadOnly' | 'onChange'>>;
  value: string;
  /** What is wrong with the value before the service has looked at it. */
  problem?: string | undefined;
  onChange: (value: string) => void;
}

/** A label above an editor, the hint and the errors below. */
export function EditorField({ schema, path, label, editor: Editor, value, problem, onChange }: EditorFieldProps) {
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
          <Editor labelledBy={id} value={value} isReadOnly={isReadOnly} onChange={onChange} />
        </Suspense>
      </ErrorBoundary>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {problem !== undefined && <p className="field-error">{problem}</p>}
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  );
}
