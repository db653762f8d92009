import { parseJson } from '../../../graph/json-text.js';
import { isObject, type JsonObject } from '../../drawing/json.js';
import { TextField } from '../../ui/fields.js';
import { toVisibleJson } from '../../ui/visible-json.js';
import type { Approval } from './approval-types.js';

const ROWS = 8;

/** Arguments that a person is changing. */
export interface Draft {
  text: string;
  /** Of the arguments that the person began with. */
  seenHash: string;
  problem?: string;
}

export function toDraft(request: Approval): Draft {
  const text = toVisibleJson(request.edited_arguments ?? request.arguments);
  return { text, seenHash: request.arguments_hash };
}

/** Undefined where the text is no JSON object. */
export function readArguments(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

interface ArgumentsFieldProps {
  draft: Draft;
  error: string | undefined;
  onChange: (draft: Draft) => void;
}

export function ArgumentsField({ draft, error, onChange }: ArgumentsFieldProps) {
  return (
    <TextField
      label="Arguments as JSON"
      hint="The tool gets these instead. Write secrets themselves: ******** stands for one that is not shown."
      error={error}
      rows={ROWS}
      spellCheck={false}
      value={draft.text}
      onChange={(text) => onChange({ text, seenHash: draft.seenHash })}
    />
  );
}
