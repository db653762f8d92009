import type { UseQueryResult } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { explain } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { Alert, Loading } from '../../ui/notices.js';
import { DayPicture } from './day-picture.js';
import { RankPicture } from './rank-picture.js';
import type { Span } from './span.js';
import { UsageTable } from './usage-table.js';
import type { Usage, UsageGroup } from './usage.js';

/** Rows of a picture and its table, unless a person asks for all. Days are shown all. */
const MOST_ROWS = 12;

interface CostsSectionProps {
  title: string;
  group: UsageGroup;
  usage: UseQueryResult<Usage[]>;
  span: Span;
  currency: string;
}

/** A picture and the table of the same name, with the same rows. */
export function CostsSection({ title, group, usage, span, currency }: CostsSectionProps) {
  const { data, error, isFetching, isPlaceholderData, refetch } = usage;
  const [isAll, setIsAll] = useState(false);
  const id = useId();
  const rows = group === 'day' || isAll ? data : data?.slice(0, MOST_ROWS);
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
          <div>
            {group === 'day' ? (
              <DayPicture label={title} rows={rows} span={span} currency={currency} />
            ) : (
              <RankPicture label={title} rows={rows} currency={currency} />
            )}
          </div>
          <div className={group === 'day' ? 'costs-days' : undefined}>
            <UsageTable label={title} group={group} rows={rows} currency={currency} />
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
