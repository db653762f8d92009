import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { explain } from '../../service/explain.js';
import { listenToSignIns, openSignInWindow, type SignInEnd } from '../../service/sign-in-window.js';
import { announce } from '../../ui/notices.js';
import { authorize, CONNECTIONS } from './connection-calls.js';

interface ToSignIn {
  projectId: number;
  id: number;
}

interface SignIn {
  start: (connection: ToSignIn) => void;
  /** The connection whose sign-in has started and not reported its end. A closed window reports none. */
  current: ToSignIn | undefined;
  isStarting: boolean;
  problem: string | undefined;
}

/**
 * Signs in at the provider of a connection in a new window. If the browser blocks the window, the page itself navigates
 * to the provider and ends at the settings. Calls `onSignedIn` after a sign-in in the window.
 */
export function useSignIn(onSignedIn?: (connection: ToSignIn) => void): SignIn {
  const [current, setCurrent] = useState<ToSignIn>();
  const [problem, setProblem] = useState<string>();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: ({ projectId, id }: ToSignIn & { opened: Window | undefined }) => authorize(projectId, id),
    onSuccess: (url, { opened }) => (opened ?? window).location.assign(url),
    onError: (error, { opened }) => {
      opened?.close();
      setCurrent(undefined);
      setProblem(explain(error));
    },
  });
  const end = useEffectEvent(({ projectId, error }: SignInEnd) => {
    void queries.invalidateQueries({ queryKey: [CONNECTIONS] });
    // Count of pending requests, shown at `Inbox`.
    void queries.invalidateQueries({ queryKey: ['approvals', 'pending', 'total'] });
    if (current === undefined || (projectId !== null && projectId !== String(current.projectId))) return;
    setCurrent(undefined);
    if (error !== null) return setProblem(signInProblem(error));
    announce('You have signed in.');
    onSignedIn?.(current);
  });
  useEffect(() => listenToSignIns((ended) => end(ended)), []);
  return {
    start(connection) {
      if (change.isPending) return;
      setProblem(undefined);
      setCurrent(connection);
      change.mutate({ ...connection, opened: openSignInWindow() });
    },
    current,
    isStarting: change.isPending,
    problem,
  };
}

const PROBLEMS: Readonly<Record<string, string>> = {
  access_denied: 'The provider says that access was not granted.',
  changed: 'The connection was changed during the sign-in. Sign in once more.',
  invalid_scope: 'The provider does not know one of the scopes, or does not grant it.',
  invalid_state:
    'The sign-in does not count: it took more than ten minutes, was used before, or began in another browser. Sign in once more.',
  provider_refused:
    'The provider has refused the sign-in. Check the client ID, its secret, and the redirect address that is registered there.',
  provider_unreachable: 'The provider cannot be reached. Try again in a moment.',
};

/** Returns the sentence for the error code in the address to which a sign-in redirects. */
export function signInProblem(error: string): string {
  const known = Object.hasOwn(PROBLEMS, error) ? PROBLEMS[error] : undefined;
  if (known !== undefined) return known;
  // Anybody can write the address, so the code is only shown if it is harmless.
  const code = /^[a-z_]{1,50}$/.test(error) ? ` It calls the reason ${error}.` : '';
  return `The provider has refused the sign-in.${code}`;
}
