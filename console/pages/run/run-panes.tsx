import { useCallback, useRef } from 'react';
import { RunGraph } from '../../drawing/run-graph.js';
import type { RunLinks } from '../../drawing/run-links.js';
import type { NodeChoice } from './node-choice.js';
import { NodePanel } from './node/node-panel.js';
import type { RunDetail } from './run-data.js';
import { Timeline } from './timeline/timeline.js';
import { useKinds } from './use-kinds.js';

interface RunPanesProps {
  run: RunDetail;
  isOpen: boolean;
  links: RunLinks;
  /** Labels of nodes by id. */
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice | undefined;
  choose: (choice: NodeChoice | string) => void;
}

/** As in run-view.css. */
const NARROW = '(max-width: 900px)';

/** The graph, the timeline, and the node that is chosen in one of them. */
export function RunPanes({ run, isOpen, links, labels, choice, choose }: RunPanesProps) {
  const kinds = useKinds();
  const panel = useRef<HTMLElement>(null);
  const show = useCallback(
    (next: NodeChoice | string) => {
      choose(next);
      // On a narrow screen the details are below what was touched.
      if (matchMedia(NARROW).matches) requestAnimationFrame(() => panel.current?.scrollIntoView({ block: 'start' }));
    },
    [choose],
  );
  return (
    <div className="run-panes">
      <section aria-label="Graph" className="run-graph-pane">
        <RunGraph
          runId={run.id}
          drawing={run.data}
          links={links}
          kinds={kinds}
          selected={choice?.nodeId}
          onSelect={show}
        />
      </section>
      <Timeline run={run} isOpen={isOpen} labels={labels} selected={choice} onSelect={show} />
      <NodePanel run={run} labels={labels} choice={choice} onSelect={show} ref={panel} />
    </div>
  );
}
