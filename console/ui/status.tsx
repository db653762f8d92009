import { classNames } from './class-names.js';
import './status.css';

/** The words of the interface, and the words that the console shows instead. */
const WORDS: Readonly<Record<string, string>> = {
  succeed: 'succeeded',
  'not found': 'not run',
  needs_authorization: 'needs sign-in',
};
const TONES: Readonly<Record<string, string>> = {
  'in queue': 'idle',
  'in progress': 'live',
  writing: 'live',
  waiting: 'warn',
  pending: 'warn',
  needs_authorization: 'warn',
  succeed: 'good',
  succeeded: 'good',
  approved: 'good',
  delivered: 'good',
  done: 'good',
  passed: 'good',
  ready: 'good',
  failed: 'bad',
  error: 'bad',
  failing: 'bad',
  rejected: 'bad',
  refused: 'bad',
};

/** Returns the word of the console for a status. Node and run statuses have the same words everywhere. */
export function statusWord(status: string): string {
  return WORDS[status] ?? status;
}

interface StatusProps {
  /** A status of the interface: of a run, a node, an attempt, a request, a delivery. */
  status: string;
  /** A text behind the word: `reused`, for example. */
  suffix?: string;
}

/** A badge with the status in words. Its colour says nothing that the words do not. */
export function Status({ status, suffix }: StatusProps) {
  const text = [statusWord(status), suffix].filter(Boolean).join(', ');
  return <span className={classNames('status', `status-${TONES[status] ?? 'idle'}`)}>{text}</span>;
}
