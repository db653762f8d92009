import { FailedChoices } from '../../app/problem.js';
import { SearchField, SelectField, TextField, type SelectOption } from '../../ui/fields.js';
import { RUN_FILTERS, runWord, toStoredStatus } from '../run/run-word.js';
import './filter-bar.css';
import { dayOf, ORDERS, toQuery, type RunFilters } from './run-filters.js';
import { useProjectChoices, useWorkflowChoices } from './runs-data.js';

interface FilterBarProps {
  filters: RunFilters;
  /** The text in the searchbox, which may be ahead of the address. */
  search: string;
  onSearch: (text: string) => void;
  onChange: (change: Partial<RunFilters>) => void;
}

export function FilterBar({ filters, search, onSearch, onChange }: FilterBarProps) {
  const projects = useProjectChoices();
  const workflows = useWorkflowChoices(toQuery(filters).project);
  const status = toStoredStatus(filters.status);
  const word = status === undefined ? '' : runWord({ status, run_started_at: '' });
  const statuses = RUN_FILTERS.map(([value]) => ({ value, label: value }));
  return (
    <div className="filter-bar" role="group" aria-label="Filters">
      <div className="filter-bar-search">
        <SearchField label="Search runs" value={search} onChange={onSearch} />
      </div>
      <SelectField
        label="Status"
        value={word}
        options={[{ value: '', label: 'Any status' }, ...statuses]}
        onChange={(value) => onChange({ status: value })}
      />
      <SelectField
        label="Project"
        value={filters.project}
        options={toOptions('All projects', 'Project', projects.data, filters.project)}
        onChange={(value) => onChange({ project: value, workflow: '' })}
      />
      <SelectField
        label="Workflow"
        value={filters.workflow}
        options={toOptions('All workflows', 'Workflow', workflows.data, filters.workflow)}
        onChange={(value) => onChange({ workflow: value })}
      />
      <TextField label="From" type="date" value={dayOf(filters.from)} onChange={(from) => onChange({ from })} />
      <TextField label="To" type="date" value={dayOf(filters.to)} onChange={(to) => onChange({ to })} />
      <SelectField
        label="Order"
        value={filters.order}
        options={ORDERS}
        onChange={(value) => onChange({ order: value })}
      />
      <FailedChoices noun="projects" query={projects} />
      <FailedChoices noun="workflows" query={workflows} />
    </div>
  );
}

/** An address may name one that is not among the choices. */
function toOptions(
  all: string,
  noun: string,
  choices: readonly { id: number; name: string }[] = [],
  chosen: string,
): SelectOption[] {
  const options = choices.map(({ id, name }) => ({ value: String(id), label: name }));
  const isListed = chosen === '' || options.some(({ value }) => value === chosen);
  return [{ value: '', label: all }, ...options, ...(isListed ? [] : [{ value: chosen, label: `${noun} ${chosen}` }])];
}
