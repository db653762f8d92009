import { useState } from 'react';
import { Dialog } from '../../ui/dialog.js';
import { Note } from '../../ui/notices.js';
import { PasswordForm } from './password-form.js';
import './sign-in-page.css';

/** Shown over a page with unsaved changes after the session has ended. A sign-in in another tab also closes it. */
export function SessionDialog() {
  const [isOpen, setIsOpen] = useState(true);
  if (!isOpen) return null;
  return (
    <Dialog title="Sign in" holdsText onClose={() => setIsOpen(false)}>
      <Note>Your session has ended. Sign in here, or in another tab, to save what you have changed.</Note>
      <PasswordForm />
    </Dialog>
  );
}
