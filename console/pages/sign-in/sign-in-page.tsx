import { useSearchParams, Redirect } from 'wouter';
import { explain } from '../../app/explain.js';
import { toOwnPath } from '../../app/return-address.js';
import { useSession } from '../../app/use-session.js';
import { Alert } from '../../ui/alert.js';
import { Note } from '../../ui/note.js';
import { PageHeader } from '../../ui/page-header.js';
import { PasswordForm } from './password-form.js';
import { Providers } from './providers.js';
import './sign-in-page.css';

/** `?next=` is the address that was asked for: a path of this origin, whatever stands there. */
export function SignInPage() {
  const [search] = useSearchParams();
  const next = toOwnPath(search.get('next'), location.origin);
  const state = useSession();
  if (state.phase === 'in') return <Redirect to={next} replace />;
  const { problem, hasEnded } = state.phase === 'out' ? state : { problem: undefined, hasEnded: false };
  return (
    <section className="sign-in" aria-label="Sign in">
      <PageHeader title="Sign in" />
      {problem !== undefined && <Alert>{explain(problem, { 401: LINK_IS_USED })}</Alert>}
      {hasEnded && <Note>Your session has ended. Sign in to go on where you were.</Note>}
      <PasswordForm />
      <Providers next={next} />
    </section>
  );
}

const LINK_IS_USED =
  'This sign-in link was used before, or is more than ten minutes old. Ask for another one, or sign in here.';
