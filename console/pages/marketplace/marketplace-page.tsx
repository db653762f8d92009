import { useId } from 'react';
import { Link } from 'wouter';
import { QueryPlaceholder, FailedChoices } from '../../service/problem.js';
import { useSearchState, useTyped } from '../../service/search-state.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { SearchField, SelectField } from '../../ui/fields.js';
import { Money } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager } from '../../ui/table.js';
import { languageName, useLanguages, type Language } from '../../service/languages.js';
import './marketplace.css';
import { Fee, useCategories, usePublished, type Ordering, type Published } from './published.js';

const PAGE_SIZE = 24;
const FILTERS = ['search', 'category', 'subcategory', 'language'] as const;

/** Address: `?search=&category=&subcategory=&language=&ordering=&page=`. */
export function MarketplacePage() {
  const filters = useSearchState();
  const { get, set, page } = filters;
  const languages = useLanguages().data;
  const ordering = toOrdering(get('ordering'));
  const { data, error, isFetching, isPlaceholderData, refetch } = usePublished({
    page,
    size: PAGE_SIZE,
    ...(get('search') && { search: get('search') }),
    ...(isId(get('category')) && { categories: [Number(get('category'))] }),
    ...(isId(get('subcategory')) && { subcategories: [Number(get('subcategory'))] }),
    ...(get('language') && { languages: get('language') }),
    ...(ordering && { ordering }),
  });
  const isFiltered = FILTERS.some((name) => get(name) !== '');
  return (
    <>
      <PageHeader title="Marketplace" />
      <MarketplaceFilters filters={filters} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.total === 0 && (
        <Empty isFiltered={isFiltered} onClear={() => set(Object.fromEntries(FILTERS.map((name) => [name, ''])))} />
      )}
      {data !== undefined && data.total > 0 && (
        <>
          <p className="marketplace-count">{data.total === 1 ? '1 workflow' : `${data.total} workflows`}</p>
          <div className="marketplace-list" aria-busy={isPlaceholderData}>
            {data.items.map((workflow) => (
              <PublishedCard key={workflow.slug} workflow={workflow} languages={languages} />
            ))}
          </div>
          <Pager page={page} size={PAGE_SIZE} total={data.total} onPage={(next) => set({ page: String(next) })} />
        </>
      )}
    </>
  );
}

function Empty({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return (
    <Note>
      <p>
        {isFiltered
          ? 'No published workflow is like this.'
          : 'Nothing is published here yet. Whoever publishes a workflow, on its own page, lets others copy and run it.'}
      </p>
      <p className="marketplace-next">
        {isFiltered ? (
          <Button onClick={onClear}>Clear filters</Button>
        ) : (
          <ButtonLink to="/workflows">To my workflows</ButtonLink>
        )}
      </p>
    </Note>
  );
}

function isId(text: string): boolean {
  return /^[1-9]\d{0,8}$/.test(text);
}

const ORDERINGS: readonly { value: Ordering | ''; label: string }[] = [
  { value: '', label: 'Published last' },
  { value: '-created_at', label: 'Newest' },
  { value: 'created_at', label: 'Oldest' },
  { value: '-last_run_at', label: 'Run last' },
  { value: '-total_cost', label: 'Most spent on' },
  { value: 'total_cost', label: 'Least spent on' },
];

/** Returns the ordering in the address; undefined, for the default order, if the address has no valid ordering. */
function toOrdering(text: string): Ordering | undefined {
  const known = ORDERINGS.find(({ value }) => value === text)?.value;
  return known === '' ? undefined : known;
}

function MarketplaceFilters({ filters }: { filters: ReturnType<typeof useSearchState> }) {
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

const COUNT = new Intl.NumberFormat();

interface PublishedCardProps {
  workflow: Published;
  languages: readonly Language[] | undefined;
}

function PublishedCard({ workflow, languages }: PublishedCardProps) {
  const id = useId();
  return (
    <article className="card published" aria-labelledby={id}>
      <h2 id={id} className="published-title">
        <Link href={`/marketplace/${workflow.slug}`}>{workflow.market_title}</Link>
      </h2>
      <p className="published-text">{workflow.short_description}</p>
      <p className="published-figures">
        <span>
          <Fee workflow={workflow} />
        </span>
        <span>
          <Money amount={workflow.marketplace_price_avg} /> on average
        </span>
        <span>{countOf(workflow.total_users_count, 'user')}</span>
        <span>{countOf(workflow.total_runs_count, 'run')}</span>
        <span>{workflow.available_languages.map((code) => languageName(languages, code)).join(', ')}</span>
        {workflow.copied_workflow_id !== -1 && <strong>In my workflows</strong>}
      </p>
    </article>
  );
}

function countOf(count: number, noun: string): string {
  return `${COUNT.format(count)} ${count === 1 ? noun : `${noun}s`}`;
}
