import { explain } from '../../app/explain.js';
import { useSearchState } from '../../app/search-state.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { Alert, Loading, Note } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager } from '../../ui/table.js';
import { MarketplaceFilters, toOrdering } from './marketplace-filters.js';
import { useLanguages, usePublished } from './marketplace-list.js';
import './marketplace.css';
import { PublishedCard } from './published-card.js';

const PAGE_SIZE = 24;
const FILTERS = ['search', 'category', 'subcategory', 'language'] as const;

/** `?search=&category=&subcategory=&language=&ordering=&page=`. */
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
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {data === undefined && error === null && <Loading />}
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
