import { useMutation } from '@tanstack/react-query';
import { Menu } from '../ui/menu.js';
import { Alert } from '../ui/notices.js';
import './account-menu.css';
import { explain } from './explain.js';
import { hold, isGuarded } from './leave-guard.js';
import { session, type User } from './session.js';

export function AccountMenu({ user }: { user: User }) {
  const signOut = useMutation({ mutationFn: session.signOut });
  const leave = (): void => signOut.mutate();
  return (
    <>
      <Menu
        label="Account"
        heading={
          <>
            <strong>{user.name}</strong>
            {user.email !== null && <div>{user.email}</div>}
          </>
        }
        // Signing out leaves the page, too: unsaved changes on it would be gone.
        items={[{ label: 'Sign out', onSelect: () => (isGuarded() ? hold(leave) : leave()) }]}
      >
        {/* A picture, not a text: the button is named Account whatever the person is called. */}
        <span className="account-letters" data-letters={initialsOf(user.name)} />
      </Menu>
      {signOut.isError && (
        <div className="account-problem">
          <Alert onRetry={leave} isRetrying={signOut.isPending}>
            {explain(signOut.error)} You are still signed in.
          </Alert>
        </div>
      )}
    </>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u);
  const ends = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return ends.map((word) => firstLetter(word ?? '')).join('');
}

/** As people count letters: an emoji of several code points is one. */
function firstLetter(word: string): string {
  const [first] = new Intl.Segmenter().segment(word);
  return first?.segment.toUpperCase() ?? '';
}
