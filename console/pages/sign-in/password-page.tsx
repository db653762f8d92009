import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ADDRESSES } from '../../service/addresses.js';
import { fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { readPasswordToken, session } from '../../service/session.js';
import { submitHandler } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/fields.js';
import { Alert } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import './sign-in-page.css';

/**
 * The page that a password link opens. People who are signed in see it, too, because the link may belong to somebody
 * else.
 */
export function PasswordPage() {
  const [token] = useState(readPasswordToken);
  return (
    <section className="sign-in" aria-label="Set your password">
      <PageHeader title="Set your password" />
      {token === undefined ? <Alert>{NO_LINK}</Alert> : <PasswordForm token={token} />}
    </section>
  );
}

function PasswordForm({ token }: { token: string }) {
  const [password, setPassword] = useState('');
  const [, navigate] = useLocation();
  const change = useMutation({
    mutationFn: async () => {
      await session.signInByReset(token, password);
      navigate(ADDRESSES.workflows, { replace: true });
    },
  });
  return (
    <form className="sign-in-form" noValidate onSubmit={submitHandler(change)}>
      <Problem error={change.error} fields={['new_password']} sentences={{ 401: LINK_IS_USED }} />
      <TextField
        label="New password"
        hint="At least 12 characters. You are signed in by it, and out everywhere else."
        type="password"
        name="new-password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
        error={fieldErrors(change.error)['new_password']}
        isRequired
      />
      <Button variant="primary" type="submit" isBusy={change.isPending}>
        Set password
      </Button>
    </form>
  );
}

const NO_LINK = 'This page needs the link that an administrator has made for you.';
const LINK_IS_USED = 'This link was used before, or is more than 24 hours old. Ask an administrator for another one.';
