import { useEffect, useRef, useState } from 'react';
import { Button } from './button.js';
import './copy-button.css';
import { announce, Note } from './notices.js';

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  text: string;
  /** Accessible name, such as `Copy key`. */
  label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<string>();
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    const sentence = await copyText(text);
    setOutcome(sentence);
    announce(sentence);
  };
  return <Button onClick={() => void copy()}>{outcome ?? label}</Button>;
}

/** Browsers may refuse the clipboard, and have none outside a secure context. The button then says to copy by hand. */
async function copyText(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    return 'Please copy by hand';
  }
}

interface NewSecretProps {
  /** Such as `Your new key`. */
  title: string;
  text: string;
  copyLabel: string;
  onDone: () => void;
}

/** Shows a secret that the service reveals only once. `onDone` must unmount this component. */
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
