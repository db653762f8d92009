import { classNames } from './class-names.js';
import './status.css';

/** The service's words that the console replaces. */
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

/** Returns the console's word for a status. Nodes and runs use the same words. */
export function statusWord(status: string): string {
  return WORDS[status] ?? status;
}

interface StatusProps {
  /** Status of a run, node, case or the like, in the service's words or the console's. */
  status: string;
  /** Text after the status, such as `reused`. */
  suffix?: string;
}

/** A badge with the status as text. Its colour only repeats the text. */
export function Status({ status, suffix }: StatusProps) {
  const text = [statusWord(status), suffix].filter(Boolean).join(', ');
  return <span className={classNames('status', `status-${TONES[status] ?? 'idle'}`)}>{text}</span>;
}
