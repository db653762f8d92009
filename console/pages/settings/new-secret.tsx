import { useEffect, useRef } from 'react';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Note } from '../../ui/note.js';

interface NewSecretProps {
  /** `Your new key`. */
  title: string;
  text: string;
  copyLabel: string;
  onDone: () => void;
}

/** What the service tells once. It stays until the person says so: no click beside it loses it. */
export function NewSecret({ title, text, copyLabel, onDone }: NewSecretProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.focus();
  }, []);
  return (
    <Note>
      <div ref={place} tabIndex={-1} role="group" aria-label={title} className="settings-secret">
        <p>
          <strong>{title}.</strong> Copy it now: it is never shown again.
        </p>
        <code className="settings-secret-text">{text}</code>
        <p className="settings-buttons">
          <CopyButton text={text} label={copyLabel} />
          <Button variant="quiet" onClick={onDone}>
            Done
          </Button>
        </p>
      </div>
    </Note>
  );
}
