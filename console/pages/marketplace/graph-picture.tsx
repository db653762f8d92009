import { useId, useMemo, useState } from 'react';
import { Button } from '../../ui/button.js';
import { statusWord } from '../../ui/status.js';
import {
  NODE_HEIGHT,
  NODE_WIDTH,
  toPicture,
  type PictureLink,
  type PictureNode,
} from '../../drawing/drawing-picture.js';
import './marketplace-item.css';

const SCALES = [0.25, 0.4, 0.6, 0.8, 1, 1.5] as const;
const BEGIN_AT = 3;
/** The service's status of a node that the run did not reach. */
const NOT_RUN = 'not found';
const MOST_LETTERS = 24;

interface GraphPictureProps {
  /** Untrusted: anybody may have published it. */
  drawing: unknown;
  /** The service's statuses by node id. */
  statuses: ReadonlyMap<string, string>;
}

/** A read-only drawing. Each node is a group named `<label>, <status>`. */
export function GraphPicture({ drawing, statuses }: GraphPictureProps) {
  const arrow = useId();
  const [step, setStep] = useState(BEGIN_AT);
  const { nodes, links, width, height } = useMemo(() => toPicture(drawing), [drawing]);
  const scale = SCALES[step] ?? 1;
  return (
    <section className="graph-picture" aria-label="Graph">
      <p className="graph-picture-tools">
        <Button disabled={step === 0} onClick={() => setStep(step - 1)}>
          Zoom out
        </Button>
        <Button disabled={step === SCALES.length - 1} onClick={() => setStep(step + 1)}>
          Zoom in
        </Button>
      </p>
      {/* Focusable, so that keyboard users can scroll it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="graph-picture-frame" role="group" aria-label="Drawing" tabIndex={0}>
        <svg width={width * scale} height={height * scale} viewBox={`0 0 ${width} ${height}`}>
          <defs>
            <marker id={arrow} viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" className="graph-picture-arrow" />
            </marker>
          </defs>
          {links.map((link) => (
            <LinkLine key={JSON.stringify([link.from.id, link.to.id, link.branch])} link={link} arrow={arrow} />
          ))}
          {nodes.map((node) => (
            <NodeBox key={node.id} node={node} status={statuses.get(node.id) ?? NOT_RUN} />
          ))}
        </svg>
      </div>
    </section>
  );
}

function LinkLine({ link: { from, to, branch }, arrow }: { link: PictureLink; arrow: string }) {
  const [x1, y1] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2];
  const [x2, y2] = [to.x, to.y + NODE_HEIGHT / 2];
  const bend = Math.max(24, Math.abs(x2 - x1) / 2);
  return (
    <g aria-hidden="true">
      <path
        d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
        className="graph-picture-link"
        markerEnd={`url(#${arrow})`}
      />
      {branch !== '' && (
        <text x={(x1 + x2) / 2} y={(y1 + y2) / 2 - 6} textAnchor="middle" className="graph-picture-branch">
          {shortened(branch)}
        </text>
      )}
    </g>
  );
}

function NodeBox({ node: { x, y, label }, status }: { node: PictureNode; status: string }) {
  const word = statusWord(status);
  return (
    <g role="group" aria-label={`${label}, ${word}`} transform={`translate(${x} ${y})`}>
      <title>{label}</title>
      <rect
        width={NODE_WIDTH}
        height={NODE_HEIGHT}
        rx="8"
        className={`graph-picture-node graph-picture-${status.replace(' ', '-')}`}
      />
      {/* The nested `svg` clips text that is wider than the node. */}
      <svg x="12" width={NODE_WIDTH - 20} height={NODE_HEIGHT}>
        <text y="22" className="graph-picture-label">
          {shortened(label)}
        </text>
        <text y="40" className="graph-picture-word">
          {word}
        </text>
      </svg>
    </g>
  );
}

function shortened(text: string): string {
  const letters = Array.from(text.slice(0, 4 * MOST_LETTERS));
  return letters.length <= MOST_LETTERS ? text : `${letters.slice(0, MOST_LETTERS - 1).join('')}…`;
}
