import { useEffect, useState } from 'react';
import type { Connection } from '../../live/watch-run.js';
import { announce } from '../../ui/notices.js';
import './connection-note.css';

const BACK_MS = 5_000;

/** Says when the connection is lost, and for a moment when it is back. */
export function ConnectionNote({ connection }: { connection: Connection }) {
  const [shown, setShown] = useState<'lost' | 'back'>();
  const next = connection === 'lost' ? 'lost' : connection === 'connecting' || shown !== 'lost' ? shown : 'back';
  if (next !== shown) setShown(next);
  useEffect(() => {
    if (shown !== undefined) announce(SENTENCES[shown]);
    if (shown !== 'back') return undefined;
    const timer = setTimeout(() => setShown(undefined), BACK_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  if (shown === undefined) return null;
  return <p className={`connection-note connection-note-${shown}`}>{SENTENCES[shown]}</p>;
}

const SENTENCES = {
  lost: 'The connection is lost. What you see may be out of date; the page tries to connect again.',
  back: 'The connection is back.',
} as const;
