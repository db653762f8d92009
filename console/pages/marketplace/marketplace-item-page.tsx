import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Link, useLocation } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { isNotFound } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { toSignInPath } from '../../service/return-address.js';
import { useUser } from '../../service/session.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { Money, Time } from '../../ui/figures.js';
import { announce, Loading } from '../../ui/notices.js';
import { NotFound, PageHeader } from '../../ui/page-header.js';
import { RemarksDialog } from '../../ui/remarks.js';
import { Examples } from './examples.js';
import './marketplace-item.css';
import { languageName, useLanguages } from '../../service/languages.js';
import { Fee, type Published } from './published.js';

const Guide = lazy(() => import('../../ui/markdown.js').then((part) => ({ default: part.Guide })));

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
          <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
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
        <section className="card" aria-labelledby="guide">
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

const COUNT = new Intl.NumberFormat();

function Figures({ workflow }: { workflow: Published }) {
  const languages = useLanguages().data;
  return (
    <dl className="marketplace-figures">
      <div>
        <dt>Fee</dt>
        <dd>
          <Fee workflow={workflow} />
        </dd>
      </div>
      <div>
        <dt>Average cost of a run</dt>
        <dd>
          <Money amount={workflow.marketplace_price_avg} />
        </dd>
      </div>
      <div>
        <dt>Users</dt>
        <dd>{COUNT.format(workflow.total_users_count)}</dd>
      </div>
      <div>
        <dt>Runs</dt>
        <dd>{COUNT.format(workflow.total_runs_count)}</dd>
      </div>
      <div>
        <dt>Last run</dt>
        <dd>
          <Time at={workflow.last_run_at} />
        </dd>
      </div>
      <div>
        <dt>Languages</dt>
        <dd>{workflow.available_languages.map((code) => languageName(languages, code)).join(', ')}</dd>
      </div>
    </dl>
  );
}

const PATH = '/api/v1/workflows/marketplace/{slug}/add-from-marketplace/';

/** Opens the person's copy, or makes one first. A visitor goes to the sign-in page before that and returns here. */
function AddButton({ workflow }: { workflow: Published }) {
  const user = useUser();
  const [here, go] = useLocation();
  const queries = useQueryClient();
  const copy = useMutation({
    mutationFn: () => unwrap(api.POST(PATH, { params: { path: { slug: workflow.slug } } })),
    onSuccess: ({ id, title, warnings }) => {
      announce(`${title} is in your workflows.`);
      for (const key of ['workflows', 'marketplace', 'projects']) void queries.invalidateQueries({ queryKey: [key] });
      if (warnings.length === 0) go(`/workflows/${id}`);
    },
  });
  const warnings = copy.data?.warnings ?? [];
  if (copy.data !== undefined && warnings.length > 0) {
    const { id, title } = copy.data;
    return (
      <RemarksDialog
        title={`“${title}” is in your workflows`}
        lead="Not everything of the workflow could be copied:"
        whole="The whole workflow"
        warnings={warnings}
        onClose={copy.reset}
        onOpen={() => go(`/workflows/${id}`)}
      />
    );
  }
  if (workflow.copied_workflow_id !== -1) {
    return (
      <ButtonLink to={`/workflows/${workflow.copied_workflow_id}`} variant="primary">
        Open my copy
      </ButtonLink>
    );
  }
  const act = (): void => {
    if (user === undefined) go(toSignInPath(here));
    else copy.mutate();
  };
  return (
    <div className="marketplace-add">
      <Button variant="primary" isBusy={copy.isPending} onClick={act}>
        Add to my workflows
      </Button>
      <Problem error={copy.error} />
    </div>
  );
}
