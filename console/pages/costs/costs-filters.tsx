import { FailedChoices } from '../../app/problem.js';
import type { useSearchState } from '../../app/search-state.js';
import { SelectField } from '../../ui/fields.js';
import { useProjects } from '../settings/use-projects.js';
import { DayField } from './day-field.js';
import { lastDays, type Span } from './span.js';

const SPANS = [7, 30, 90, 365] as const;

interface CostsFiltersProps {
  filters: ReturnType<typeof useSearchState>;
  span: Span;
  /** Milliseconds since 1970. */
  now: number;
  /** Sentences of the service about `from` and `to`. */
  errors: Readonly<Record<string, string>>;
  currencies: readonly string[];
  currency: string;
}

export function CostsFilters({ filters: { get, set }, span, now, errors, currencies, currency }: CostsFiltersProps) {
  const projects = useProjects();
  const known = SPANS.find((days) => {
    const { from, to } = lastDays(days, now);
    return from === span.from && to === span.to;
  });
  return (
    <div className="costs-filters">
      <SelectField
        label="Project"
        value={get('project')}
        onChange={(project) => set({ project })}
        options={[
          { value: '', label: 'All projects' },
          ...(projects.data ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
      />
      <SelectField
        label="Span"
        value={known === undefined ? '' : String(known)}
        onChange={(days) => days !== '' && set({ ...lastDays(Number(days), now) })}
        options={[
          ...(known === undefined ? [{ value: '', label: 'Other days' }] : []),
          ...SPANS.map((days) => ({ value: String(days), label: `Last ${days} days` })),
        ]}
      />
      <DayField label="From" value={span.from} onChange={(from) => set({ from })} error={errors['from']} />
      <DayField label="To" value={span.to} onChange={(to) => set({ to })} error={errors['to']} />
      {currencies.length > 1 && (
        <SelectField
          label="Currency"
          value={currency}
          onChange={(code) => set({ currency: code })}
          options={currencies.map((code) => ({ value: code, label: code }))}
        />
      )}
      <FailedChoices noun="projects" query={projects} />
    </div>
  );
}
