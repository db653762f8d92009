import { lazy, useState } from 'react';
import { isSameJson } from '../drawing/json.js';
import { EditorField } from './editor-field.js';
import type { SchemaFieldProps } from './field-props.js';
import { fromJsonText, isJson, toJsonText } from './json-text.js';

const JsonEditor = lazy(() => import('./json-editor.js').then((part) => ({ default: part.JsonEditor })));

/** Any JSON. What is none is kept as text, and said to be one. */
export function JsonField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const [written, setWritten] = useState(() => toJsonText(value));
  const text = isSameJson(fromJsonText(written), value) ? written : toJsonText(value);
  const looksBroken = /^\s*[[{](?!\{)/.test(text) && !isJson(text);
  return (
    <EditorField
      schema={schema}
      path={path}
      label={label}
      editor={JsonEditor}
      value={text}
      problem={looksBroken ? 'This is not complete JSON yet; as it is, it is a text.' : undefined}
      onChange={(next) => {
        setWritten(next);
        onChange(path, fromJsonText(next));
      }}
    />
  );
}
