import { useQuery } from '@tanstack/react-query';
import { useId, useState, type KeyboardEvent } from 'react';
import type { paths } from '../../service/api.js';
import { FailedChoices } from '../../service/problem.js';
import { useFieldError, type SchemaFieldProps } from '../../forms/form.js';
import { descriptionOf } from '../../forms/schema.js';
import { Field } from '../../ui/fields.js';
import { modelsQuery } from '../../service/models.js';
import './model-field.css';

type Model = paths['/api/v1/models/']['get']['responses']['200']['content']['application/json'][number];

/** Selects a model: one of the operator's, found by typing, or any other text, such as a variable. */
export function ModelField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const id = useId();
  const query = useQuery(modelsQuery);
  const [search, setSearch] = useState<string>();
  const [active, setActive] = useState(-1);
  const text = typeof value === 'string' ? value : '';
  const models = query.data ?? [];
  const found = find(models, search ?? '');
  const isWritten = search === text && found.length === 1 && found[0]?.id === text;
  const isOpen = search !== undefined && found.length > 0 && !isWritten;
  const chosen = models.find((model) => model.id === text);
  const open = (written: string): void => {
    setSearch(written);
    setActive(-1);
  };
  const close = (): void => setSearch(undefined);
  const choose = (model: Model): void => {
    onChange(path, model.id);
    close();
  };
  const move = (to: number): void => {
    const next = (to + found.length) % Math.max(found.length, 1);
    setActive(next);
    document.getElementById(`${id}${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // During a composition the keys choose among characters.
    if (event.nativeEvent.isComposing) return;
    const model = isOpen ? found[active] : undefined;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      if (!isOpen) open('');
      else move(active < 0 && step < 0 ? -1 : active + step);
    } else if (event.key === 'Enter' && model !== undefined) {
      event.preventDefault();
      choose(model);
    } else if (event.key === 'Escape' && isOpen) {
      // Escape must close the list only, not the wide view of the node.
      event.stopPropagation();
      close();
    }
  };
  return (
    <div className="model-field" data-path={path.join('.')}>
      <Field
        label={label}
        hint={chosen ? priceOf(chosen) : descriptionOf(schema)}
        error={error}
        isRequired={isRequired}
      >
        {(control) => (
          <input
            className="control"
            role="combobox"
            aria-autocomplete="list"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            aria-activedescendant={isOpen && active >= 0 ? `${id}${active}` : undefined}
            autoComplete="off"
            spellCheck={false}
            data-variables
            value={text}
            onChange={({ target }) => {
              onChange(path, target.value);
              open(target.value);
            }}
            onClick={() => open('')}
            onBlur={close}
            onKeyDown={onKeyDown}
            {...control}
          />
        )}
      </Field>
      {isOpen && (
        <div className="model-field-list" role="listbox" aria-label="Models" id={id}>
          {found.map((model, at) => (
            // The combobox has the focus and handles keys.
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
            <div
              key={model.id}
              id={`${id}${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={model.id === text}
              className="model-field-option"
              data-highlighted={at === active || undefined}
              // Prevents the option from taking the focus away from the combobox.
              onPointerDown={(event) => event.preventDefault()}
              onPointerMove={() => setActive(at)}
              onClick={() => choose(model)}
            >
              <span className="model-field-name">{model.id}</span>
              <span className="field-hint">
                {model.provider} · {priceOf(model)}
              </span>
            </div>
          ))}
        </div>
      )}
      <FailedChoices noun="models" query={query} />
    </div>
  );
}

const MOST = 100;

/** Each typed word must occur in the name of the model or of its provider. */
function find(models: readonly Model[], search: string): Model[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return models
    .filter(({ id, provider }) => words.every((word) => `${id} ${provider}`.toLowerCase().includes(word)))
    .slice(0, MOST);
}

function priceOf({ input_price_per_million: input, output_price_per_million: output }: Model): string {
  return `$${input} in, $${output} out per million tokens`;
}
