import { useEffect, useState } from 'react';
import { announce } from './announce.js';
import { Button } from './button.js';

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  text: string;
  /** The accessible name, such as `Copy key`. */
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

/** Without a secure context browsers give pages no clipboard; then it says so, and the person copies by hand. */
async function copyText(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    return 'Please copy by hand';
  }
}
