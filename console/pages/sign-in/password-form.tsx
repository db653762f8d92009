import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { explain, fieldErrors } from '../../service/explain.js';
import { session } from '../../service/session.js';
import { submitHandler } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/fields.js';
import { Alert } from '../../ui/notices.js';

export function PasswordForm() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({ mutationFn: () => session.signIn(email, password) });
  const errors = fieldErrors(signIn.error);
  return (
    <form
      className="sign-in-form"
      // The service validates the fields, so that its error messages appear beside them.
      noValidate
      onSubmit={submitHandler(signIn)}
    >
      {signIn.isError && Object.keys(errors).length === 0 && (
        <Alert>{explain(signIn.error, { 401: 'The e-mail address or the password is wrong.', 403: NO_SIGN_IN })}</Alert>
      )}
      <TextField
        label="Email"
        type="email"
        name="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        error={errors['email']}
        isRequired
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        error={errors['password']}
        isRequired
      />
      <Button variant="primary" type="submit" isBusy={signIn.isPending}>
        Sign in
      </Button>
    </form>
  );
}

const NO_SIGN_IN = 'Nobody signs in here by password: sessions come from another service.';
