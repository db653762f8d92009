import { BaseEdge, useReactFlow, type EdgeProps } from '@xyflow/react';
import { memo, use, type KeyboardEvent, type MouseEvent } from 'react';
import { useStore } from './editor-store.js';
import { insertOnLink } from './insert.js';
import { AskContext } from './kind-menu.js';
import type { Link } from './links.js';
import type { LinkEdgeType } from './use-flow.js';

/** A link with the button `Insert node`. React Flow renders the wrapper, a group named `<source> to <target>`. */
export const LinkEdge = memo(function LinkEdge(props: EdgeProps<LinkEdgeType>) {
  const { sourceX, sourceY, targetX, targetY, data, selected = false, markerEnd, style } = props;
  const store = useStore();
  const curve = curveOf(sourceX, sourceY, targetX, targetY);
  return (
    <>
      <BaseEdge path={pathOf(curve)} {...(markerEnd && { markerEnd })} {...(style && { style })} />
      {!store.isReadOnly && data !== undefined && !data.link.isIdle && (
        <InsertButton link={data.link} at={pointOf(curve, BUTTON_AT)} isInOrder={selected} />
      )}
    </>
  );
});

/** People click the middle of a link to select it, so the button is nearer to the start. Fraction from 0 to 1. */
const BUTTON_AT = 0.2;

interface InsertButtonProps {
  link: Link;
  at: Point;
  /** True if Tab reaches the button, which only holds for a selected link. Otherwise each link would add a tab stop. */
  isInOrder: boolean;
}

function InsertButton({ link, at, isInOrder }: InsertButtonProps) {
  const store = useStore();
  const flow = useReactFlow();
  const ask = use(AskContext);
  const open = (event: MouseEvent | KeyboardEvent): void => {
    event.stopPropagation();
    ask({
      at: flow.flowToScreenPosition(at),
      add: (kind) => insertOnLink(store.drawing, store.kinds, kind, link),
    });
  };
  return (
    <g
      role="button"
      aria-label="Insert node"
      tabIndex={isInOrder ? 0 : -1}
      className="link-insert nopan"
      transform={`translate(${at.x} ${at.y})`}
      onClick={open}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        open(event);
      }}
    >
      <circle r="8" />
      <path d="M-4 0h8M0 -4v8" />
    </g>
  );
}

interface Point {
  x: number;
  y: number;
}

type Curve = readonly [Point, Point, Point, Point];

/** Links leave to the right and arrive from the left. Links that lead back curve around. */
function curveOf(fromX: number, fromY: number, toX: number, toY: number): Curve {
  const distance = toX - fromX;
  const reach = distance >= 0 ? distance / 2 : 6.25 * Math.sqrt(-distance);
  return [
    { x: fromX, y: fromY },
    { x: fromX + reach, y: fromY },
    { x: toX - reach, y: toY },
    { x: toX, y: toY },
  ];
}

function pathOf([from, out, into, to]: Curve): string {
  return `M${from.x},${from.y} C${out.x},${out.y} ${into.x},${into.y} ${to.x},${to.y}`;
}

function pointOf(curve: Curve, part: number): Point {
  const rest = 1 - part;
  const weights = [rest ** 3, 3 * rest ** 2 * part, 3 * rest * part ** 2, part ** 3];
  const along = (key: keyof Point): number => weights.reduce((sum, weight, at) => sum + weight * curve[at]![key], 0);
  return { x: along('x'), y: along('y') };
}
