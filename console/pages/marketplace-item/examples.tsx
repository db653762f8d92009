import { useState } from 'react';
import { explain } from '../../app/explain.js';
import { SelectField } from '../../ui/fields.js';
import { Money, Time } from '../../ui/figures.js';
import { Alert, Loading } from '../../ui/notices.js';
import { ExampleContents } from './example-contents.js';
import { useExample, useExamples, type Listed } from './example-runs.js';

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Runs that show what the workflow does. */
export function Examples({ slug }: { slug: string }) {
  const { data, error, refetch, isFetching } = useExamples(slug);
  const [chosen, setChosen] = useState<string>();
  const example = data?.find(({ id }) => id === chosen) ?? data?.[0];
  return (
    <section className="marketplace-section" aria-labelledby="examples">
      <h2 id="examples">Examples</h2>
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {data === undefined && error === null && <Loading />}
      {data?.length === 0 && <p>Its author has not chosen an example run.</p>}
      {data !== undefined && data.length > 1 && example !== undefined && (
        <SelectField
          label="Example"
          value={example.id}
          onChange={setChosen}
          options={data.map(({ id, created_at }, at) => ({
            value: id,
            label: `Example ${at + 1}, ${FORMAT.format(new Date(created_at))}`,
          }))}
        />
      )}
      {example !== undefined && <OneExample key={example.id} slug={slug} listed={example} />}
    </section>
  );
}

function OneExample({ slug, listed }: { slug: string; listed: Listed }) {
  const { data, error, refetch, isFetching } = useExample(slug, listed.id);
  return (
    <>
      <p>
        Run on <Time at={listed.created_at} /> for <Money amount={listed.cost} />.
      </p>
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && <ExampleContents example={data} />}
    </>
  );
}
