import { useId } from 'react';
import { Link } from 'wouter';
import { Money } from '../../ui/figures.js';
import { Fee } from './fee.js';
import { languageName, type Language, type Published } from './marketplace-list.js';

const COUNT = new Intl.NumberFormat();

interface PublishedCardProps {
  workflow: Published;
  languages: readonly Language[] | undefined;
}

export function PublishedCard({ workflow, languages }: PublishedCardProps) {
  const id = useId();
  return (
    <article className="published" aria-labelledby={id}>
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
