import { memo, useRef } from 'react';
import { parseNodeKey } from '../../../live/live-run.js';
import { useIsWaiting, useNodeEntry } from '../../../live/run-cache.js';
import { classNames } from '../../../ui/class-names.js';
import { formatDuration } from '../../../ui/format.js';
import { iterationInWords } from '../iteration-words.js';
import type { NodeChoice } from '../node-choice.js';
import { useNodeDetail } from '../node/node-detail.js';
import type { ApprovalRequest, RunDetail } from '../run-data.js';
import { AttemptBar } from './attempt-bar.js';
import { layOutRow, type Span } from './timeline-layout.js';
import { useWasVisible } from './use-was-visible.js';

interface TimelineRowProps {
  run: RunDetail;
  nodeKey: string;
  labels: ReadonlyMap<string, string>;
  originMs: number;
  requests: readonly ApprovalRequest[];
  /** Otherwise the attempts are read when the row has come into sight. */
  isReadAtOnce: boolean;
  isSelected: boolean;
  onSelect: (choice: NodeChoice) => void;
}

export const TimelineRow = memo(function TimelineRow(props: TimelineRowProps) {
  const { run, nodeKey, labels, originMs, requests, isReadAtOnce, isSelected, onSelect } = props;
  const row = useRef<HTMLLIElement>(null);
  const { nodeId, path } = parseNodeKey(nodeKey);
  const entry = useNodeEntry(run.id, nodeId, path);
  const isWaiting = useIsWaiting(run.id, nodeId, path);
  const wasVisible = useWasVisible(row);
  const address = { runId: run.id, workflowId: run.workflow.id, nodeId, path };
  const detail = useNodeDetail(address, entry, isReadAtOnce || wasVisible).data;
  const label = labels.get(nodeId) ?? nodeId;
  const view = entry === null ? undefined : layOutRow({ originMs, entry, isWaiting, detail, requests });
  return (
    <li className={classNames('timeline-row', isSelected && 'timeline-row-selected')} ref={row}>
      <span className="timeline-label" title={path === '' ? label : `${label}, ${iterationInWords(path, labels)}`}>
        {label}
        {path !== '' && <span className="timeline-path"> {iterationInWords(path, labels)}</span>}
      </span>
      <div className="timeline-track">
        {view?.queue !== undefined && <Queue span={view.queue} />}
        {view?.pauses.map((span) => (
          <span key={span.fromMs} className="timeline-pause" style={placeOf(span)} />
        ))}
        {view?.attempts.map((attempt) => (
          <AttemptBar
            key={attempt.number}
            label={label}
            attempt={attempt}
            originMs={originMs}
            isReused={entry?.reused === true}
            onSelect={() => onSelect({ nodeId, path })}
          />
        ))}
      </div>
    </li>
  );
});

function Queue({ span }: { span: Span }) {
  const text = `in queue for ${formatDuration((span.toMs ?? span.fromMs) - span.fromMs)}`;
  return (
    <span className="timeline-queue" style={placeOf(span)} title={text}>
      <span className="hidden-text">{text}</span>
    </span>
  );
}

function placeOf({ fromMs, toMs }: Span) {
  return { '--from': fromMs, '--to': toMs ?? 'var(--span)' };
}
