import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { api, unwrap } from '../../app/api.js';
import { explain, isNotFound } from '../../app/explain.js';
import { Alert, Loading } from '../../ui/notices.js';
import { NotFound, PageHeader } from '../../ui/page-header.js';
import { AddButton } from './add-button.js';
import { Examples } from './examples.js';
import { Figures } from './figures.js';
import './marketplace-item.css';

const Guide = lazy(() => import('./guide.js').then((part) => ({ default: part.Guide })));

export function MarketplaceItemPage({ slug }: { slug: string }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['marketplace', 'one', slug],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/workflows/marketplace/{slug}/', { params: { path: { slug } }, signal })),
  });
  if (isNotFound(error)) return <NotFound>No workflow is published at this address.</NotFound>;
  if (data === undefined) {
    return (
      <>
        <PageHeader title="Marketplace" />
        {error === null ? (
          <Loading />
        ) : (
          <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
            {explain(error)}
          </Alert>
        )}
      </>
    );
  }
  return (
    <>
      <p>
        <Link href="/marketplace">Marketplace</Link>
      </p>
      <PageHeader title={data.market_title} actions={<AddButton workflow={data} />} />
      <p className="marketplace-lead">{data.short_description}</p>
      <Figures workflow={data} />
      {data.readme_guide.trim() !== '' && (
        <section className="marketplace-section" aria-labelledby="guide">
          <h2 id="guide">Guide</h2>
          <Suspense fallback={<Loading />}>
            <Guide text={data.readme_guide} />
          </Suspense>
        </section>
      )}
      <Examples slug={slug} />
    </>
  );
}
