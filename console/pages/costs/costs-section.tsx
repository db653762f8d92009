import { useId, useState, type ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { explain } from '../../app/explain.js';
import { Alert } from '../../ui/alert.js';
import { Button } from '../../ui/button.js';
import { Loading } from '../../ui/loading.js';
import type { Usage } from './usage.js';
import { UsageTable } from './usage-table.js';

/** Rows of a picture and its table, unless a person asks for all. */
const MOST_ROWS = 12;

interface CostsSectionProps {
  title: string;
  heading: string;
  usage: UseQueryResult<Usage[]>;
  currency: string;
  name: (row: Usage) => ReactNode;
  picture: (rows: readonly Usage[]) => ReactNode;
  /** Whether all rows are needed at once: of days. */
  isWhole?: boolean;
}

/** A picture and the table of the same name, with the same rows. */
export function CostsSection(props: CostsSectionProps) {
  const { title, heading, usage, currency, name, picture, isWhole = false } = props;
  const { data, error, isFetching, isPlaceholderData, refetch } = usage;
  const [isAll, setIsAll] = useState(false);
  const id = useId();
  const rows = isWhole || isAll ? data : data?.slice(0, MOST_ROWS);
  const hidden = (data?.length ?? 0) - (rows?.length ?? 0);
  return (
    <section className="costs-section" aria-labelledby={id} aria-busy={isPlaceholderData}>
      <h2 id={id}>{title}</h2>
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {rows === undefined && error === null && <Loading />}
      {rows !== undefined && error === null && (
        <>
          <div className="costs-frame">{picture(rows)}</div>
          <div className="costs-figures">
            <UsageTable label={title} heading={heading} name={name} rows={rows} currency={currency} />
          </div>
          {hidden > 0 && (
            <p>
              <Button onClick={() => setIsAll(true)}>{hidden === 1 ? 'Show 1 more' : `Show ${hidden} more`}</Button>
            </p>
          )}
        </>
      )}
    </section>
  );
}
