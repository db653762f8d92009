import { useMemo } from 'react';
import { cutText } from '../../../graph/cut-text.js';
import { NODE_HEIGHT, NODE_WIDTH, toPicture, type PictureLink } from '../../drawing/drawing-picture.js';

const MOST_LETTERS = 24;

/** A small picture of a drawing, which scrolls sideways on narrow screens. */
export function VersionPicture({ drawing, name }: { drawing: unknown; name: string }) {
  const { nodes, links, width, height } = useMemo(() => toPicture(drawing), [drawing]);
  if (nodes.length === 0) return <p>This version has no nodes.</p>;
  const what = `${name}: ${nodes.map(({ label }) => label).join(', ')}`;
  return (
    // Focusable, so that keyboard users can scroll it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="version-picture" role="group" aria-label="Drawing" tabIndex={0}>
      <svg role="img" aria-label={what} viewBox={`0 0 ${width} ${height}`}>
        {links.map((link) => (
          <path key={JSON.stringify([link.from.id, link.to.id, link.branch])} d={lineOf(link)} />
        ))}
        {nodes.map(({ id, label, x, y }) => (
          <g key={id} transform={`translate(${x} ${y})`}>
            <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx="8" />
            <text x="12" y={NODE_HEIGHT / 2} dominantBaseline="central">
              {label.length > MOST_LETTERS ? `${cutText(label, MOST_LETTERS)}…` : label}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

function lineOf({ from, to }: PictureLink): string {
  const [x1, y1] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2];
  const [x2, y2] = [to.x, to.y + NODE_HEIGHT / 2];
  const bend = Math.max(24, Math.abs(x2 - x1) / 2);
  return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
