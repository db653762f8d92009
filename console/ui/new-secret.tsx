import { useEffect, useRef } from 'react';
import { Button } from './button.js';
import { CopyButton } from './copy-button.js';
import './new-secret.css';
import { Note } from './note.js';

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
      <div ref={place} tabIndex={-1} role="group" aria-label={title} className="new-secret">
        <p>
          <strong>{title}.</strong> Copy it now: it is never shown again.
        </p>
        <code className="new-secret-text">{text}</code>
        <p className="new-secret-buttons">
          <CopyButton text={text} label={copyLabel} />
          <Button variant="quiet" onClick={onDone}>
            Done
          </Button>
        </p>
      </div>
    </Note>
  );
}
