import { useQuery } from '@tanstack/react-query';
import { Redirect, useSearchParams } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import { toOwnPath } from '../../service/return-address.js';
import { storeReturnAddress, useSession } from '../../service/session.js';
import { Alert, Note } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { PasswordForm } from './password-form.js';
import './sign-in-page.css';

/** `?next=` has the address to return to, which is used only if it is a path of this origin. */
export function SignInPage() {
  const [search] = useSearchParams();
  const next = toOwnPath(search.get('next'), location.origin);
  const provider = search.get('problem');
  const state = useSession();
  if (state.phase === 'in') return <Redirect to={next} replace />;
  const { problem, hasEnded } = state.phase === 'out' ? state : { problem: undefined, hasEnded: false };
  return (
    <section className="sign-in" aria-label="Sign in">
      <PageHeader title="Sign in" />
      <Problem error={problem} sentences={{ 401: LINK_IS_USED }} />
      {provider !== null && (
        <Alert>{PROVIDER_PROBLEMS.get(provider) ?? 'The sign-in has failed. Please begin again.'}</Alert>
      )}
      {hasEnded && <Note>Your session has ended. Sign in to go on where you were.</Note>}
      <PasswordForm />
      <Providers next={next} />
    </section>
  );
}

/** Sentences for the codes that the service sets as `?problem=` if a provider's sign-in fails (docs/use/sign-in.md). */
const PROVIDER_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ['invalid_state', 'That sign-in was not begun in this browser, or more than ten minutes ago. Please begin again.'],
  ['authentication_failed', 'The identity provider has refused the sign-in.'],
  [
    'unknown_user',
    'Nobody here has the e-mail address that your identity provider has verified. Ask an administrator.',
  ],
  ['issuer_unavailable', 'The identity provider does not answer. Please try again.'],
  ['sign_in_disabled', 'Nobody signs in here: sessions come from another service.'],
]);

const LINK_IS_USED =
  'This sign-in link was used before, or is more than ten minutes old. Ask for another one, or sign in here.';

/** The identity providers that the operator has configured. */
function Providers({ next }: { next: string }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/auth/providers/', { signal })),
  });
  if (error !== null) {
    return <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
  }
  if (data === undefined || data.length === 0) return null;
  return (
    <div className="sign-in-providers">
      {data.map(({ name, url }) => (
        <a key={url} className="button button-plain" href={url} onClick={() => storeReturnAddress(next)}>
          Sign in with {name}
        </a>
      ))}
    </div>
  );
}
