import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { keepReturnAddress } from '../../app/return-address.js';
import { Alert } from '../../ui/notices.js';

/** Other ways than a password, as the operator has set them up. */
export function Providers({ next }: { next: string }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/auth/providers/', { signal })),
  });
  if (error !== null) {
    return (
      <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
        {explain(error)}
      </Alert>
    );
  }
  if (data === undefined || data.length === 0) return null;
  return (
    <div className="sign-in-providers">
      {data.map(({ name, url }) => (
        <a key={url} className="button button-plain" href={url} onClick={() => keepReturnAddress(next)}>
          Sign in with {name}
        </a>
      ))}
    </div>
  );
}
