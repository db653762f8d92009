import { FailedChoices } from '../../app/problem.js';
import { useTyped, type useSearchState } from '../../app/search-state.js';
import { SearchField, SelectField } from '../../ui/fields.js';
import { useCategories, useLanguages, type Ordering } from './marketplace-list.js';

const ORDERINGS: readonly { value: Ordering | ''; label: string }[] = [
  { value: '', label: 'Published last' },
  { value: '-created_at', label: 'Newest' },
  { value: 'created_at', label: 'Oldest' },
  { value: '-last_run_at', label: 'Run last' },
  { value: '-total_cost', label: 'Most spent on' },
  { value: 'total_cost', label: 'Least spent on' },
];

/** A text of the address as an ordering that the service knows. */
export function toOrdering(text: string): Ordering | undefined {
  const known = ORDERINGS.find(({ value }) => value === text)?.value;
  return known === '' ? undefined : known;
}

export function MarketplaceFilters({ filters }: { filters: ReturnType<typeof useSearchState> }) {
  const { get, set } = filters;
  const [typed, setTyped] = useTyped(get('search'), (search) => set({ search }));
  const [allCategories, allLanguages] = [useCategories(), useLanguages()];
  const categories = allCategories.data ?? [];
  const languages = allLanguages.data ?? [];
  const below = categories.filter(({ parent }) => parent !== null && String(parent) === get('category'));
  return (
    <div className="marketplace-filters" role="search">
      <SearchField label="Search marketplace" value={typed} onChange={setTyped} />
      {categories.length > 0 && (
        <SelectField
          label="Category"
          value={get('category')}
          onChange={(category) => set({ category, subcategory: '' })}
          options={withAll(
            'All categories',
            categories.filter(({ parent }) => parent === null),
          )}
        />
      )}
      {below.length > 0 && (
        <SelectField
          label="Subcategory"
          value={get('subcategory')}
          onChange={(subcategory) => set({ subcategory })}
          options={withAll('All subcategories', below)}
        />
      )}
      <SelectField
        label="Language"
        value={get('language')}
        onChange={(language) => set({ language })}
        options={withAll('All languages', languages)}
      />
      <SelectField
        label="Order"
        value={toOrdering(get('ordering')) ?? ''}
        onChange={(ordering) => set({ ordering })}
        options={ORDERINGS}
      />
      <FailedChoices noun="categories" query={allCategories} />
      <FailedChoices noun="languages" query={allLanguages} />
    </div>
  );
}

function withAll(label: string, choices: readonly { code: string; name: string }[]) {
  return [{ value: '', label }, ...choices.map(({ code, name }) => ({ value: code, label: name }))];
}
