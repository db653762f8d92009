import { Status } from '../ui/status.js';
import './card-remark.css';
import type { Remark } from './editor-store.js';

/**
 * Test status and pin of a node, on the upper edge of its card. Hidden from screen readers: the name of the card's
 * group contains both.
 */
export function CardRemark({ status, pin, isWriting }: Remark) {
  return (
    <div className="card-remark" aria-hidden="true">
      {status !== undefined && <Status status={firstWord(status)} suffix={rest(status)} />}
      {isWriting && <span className="card-writing">writing</span>}
      {pin !== undefined && <span className={`card-pin card-${pin.replace(', ', '-')}`}>{pin}</span>}
    </div>
  );
}

function firstWord(status: string): string {
  return status.split(', ', 1)[0]!;
}

function rest(status: string): string {
  return status.slice(firstWord(status).length + 2);
}
