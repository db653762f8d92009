import { lazy } from 'react';
import { asText } from '../drawing/json.js';
import { EditorField } from './editor-field.js';
import type { SchemaFieldProps } from './field-props.js';

const CodeEditor = lazy(() => import('./code-editor.js').then((part) => ({ default: part.CodeEditor })));

/** JavaScript. */
export function CodeField({ schema, path, label, value, onChange }: SchemaFieldProps) {
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
