import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../app/api.js';
import { FailedChoices } from '../../app/problem.js';
import { CheckboxField, SearchField } from '../../ui/fields.js';

interface LanguageBoxesProps {
  chosen: readonly string[];
  error: string | undefined;
  onChange: (codes: string[]) => void;
}

/** Shown before anybody searches: what is chosen, and what is spoken most. */
const FIRST = new Set(['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'pt', 'ru', 'zh']);

export function LanguageBoxes({ chosen, error, onChange }: LanguageBoxesProps) {
  const [search, setSearch] = useState('');
  const query = useQuery({ queryKey: ['languages'], queryFn: readLanguages, staleTime: Infinity });
  const { data: languages = [] } = query;
  const wanted = search.trim().toLowerCase();
  const known = new Set(languages.map(({ code }) => code));
  const others = chosen.filter((code) => !known.has(code)).map((code) => ({ code, name: code }));
  const shown = [...languages, ...others].filter(({ code, name }) => {
    if (wanted !== '') return code === wanted || name.toLowerCase().includes(wanted);
    return chosen.includes(code) || FIRST.has(code);
  });
  return (
    <fieldset className="form-group">
      <legend className="form-legend">Languages</legend>
      <FailedChoices noun="languages" query={query} />
      <SearchField label="Search languages" value={search} onChange={setSearch} />
      <div className="form-row">
        {shown.map(({ code, name }) => (
          <CheckboxField
            key={code}
            label={name}
            isChecked={chosen.includes(code)}
            onChange={(isChecked) => onChange(isChecked ? [...chosen, code] : chosen.filter((each) => each !== code))}
          />
        ))}
      </div>
      {error !== undefined && <p className="field-error">{error}</p>}
    </fieldset>
  );
}

async function readLanguages(): Promise<{ code: string; name: string }[]> {
  const all: { code: string; name: string }[] = [];
  for (let page = 1; ; page += 1) {
    const { items, total } = await unwrap(api.GET('/api/v1/languages/', { params: { query: { page, size: 100 } } }));
    all.push(...items);
    if (items.length === 0 || all.length >= total) return all;
  }
}
