import { useNow } from '../../../ui/figures.js';
import { formatDuration } from '../../../ui/format.js';
import { ticksOf } from './timeline-layout.js';

/** Behind this part of the axis there is no room for words. */
const LABELLED = 0.92;

/** The axis of a run that goes on. */
export function GrowingAxis({ originMs }: { originMs: number }) {
  return <Axis spanMs={useNow(1_000) - originMs} />;
}

export function Axis({ spanMs }: { spanMs: number }) {
  return (
    <div className="timeline-axis" aria-hidden="true">
      <div className="timeline-track">
        {ticksOf(LABELLED * spanMs).map((ms) => (
          <span key={ms} className="timeline-tick" style={{ '--from': ms }}>
            {ms === 0 ? '0' : formatDuration(ms)}
          </span>
        ))}
      </div>
    </div>
  );
}
