import { Status } from '../ui/status.js';
import './card-remark.css';
import type { Remark } from './editor-store.js';

const NOTHING: Remark = { status: undefined, pin: undefined, isWriting: false };

/**
 * Test status and pin of a node, and whether the assistant has changed it, on the upper edge of its card. Hidden from
 * screen readers: the name of the card's group contains all of it.
 */
export function CardRemark({ remark, isAssisted }: { remark: Remark | undefined; isAssisted: boolean }) {
  const { status, pin, isWriting } = remark ?? NOTHING;
  return (
    <div className="card-remark" aria-hidden="true">
      {status !== undefined && <Status status={firstWord(status)} suffix={rest(status)} />}
      {isAssisted && <span className="card-assisted">changed</span>}
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
