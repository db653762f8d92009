import { asObject, asText, type JsonObject } from '../drawing/json.js';
import { Button } from '../ui/button.js';

interface OptionsFieldProps {
  options: readonly unknown[];
  onChange: (options: readonly unknown[]) => void;
}

/** What can be chosen from; the value is the title until another one is written. */
export function OptionsField({ options, onChange }: OptionsFieldProps) {
  const set = (at: number, change: JsonObject): void =>
    onChange(options.with(at, { ...asObject(options[at]), ...change }));
  return (
    <fieldset className="form-group">
      <legend className="form-legend">Options</legend>
      {options.map((option, at) => {
        const { title, value } = asObject(option);
        const retitle = (next: string): void => set(at, { title: next, ...(value === title && { value: next }) });
        return (
          <div className="form-record" key={at}>
            <input
              className="control"
              aria-label={`Option ${at + 1} title`}
              value={asText(title) ?? ''}
              onChange={({ target }) => retitle(target.value)}
            />
            <input
              className="control"
              aria-label={`Option ${at + 1} value`}
              value={typeof value === 'string' ? value : JSON.stringify(value ?? '')}
              onChange={({ target }) => set(at, { value: target.value })}
            />
            <Button
              variant="quiet"
              aria-label={`Remove option ${at + 1}`}
              onClick={() => onChange(options.toSpliced(at, 1))}
            >
              <span aria-hidden="true">✕</span>
            </Button>
          </div>
        );
      })}
      <Button onClick={() => onChange([...options, { title: '', value: '', is_default: false }])}>Add option</Button>
    </fieldset>
  );
}
