import { useRef, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import { createKept } from '../service/kept.js';
import { classNames } from '../ui/class-names.js';
import { useStored, type Store } from '../ui/store.js';
import './side-pane.css';

interface PaneState {
  /** In pixels; undefined while the pane has its first width. */
  width: number | undefined;
  isFolded: boolean;
}

export interface Pane extends Store<PaneState> {
  /** The names of the controls contain it: `Hide palette`. */
  name: string;
  least: number;
  most: number;
}

/** Creates the state of a pane, which the browser stores. */
export function createPane(name: string, [least, most]: readonly [number, number]): Pane {
  const store = createKept<PaneState>(`pane-${name}`, ({ width, isFolded }) => ({
    width: typeof width === 'number' ? Math.min(Math.max(width, least), most) : undefined,
    isFolded: isFolded === true,
  }));
  return { ...store, name, least, most };
}

export function unfold(pane: Pane): void {
  const { width, isFolded } = pane.getState();
  if (isFolded) pane.setState({ width, isFolded: false });
}

interface SidePaneProps {
  pane: Pane;
  side: 'left' | 'right';
  className?: string;
  children: ReactNode;
}

/** A column at the left or right that a person can fold and resize, but not on narrow screens. */
export function SidePane({ pane, side, className, children }: SidePaneProps) {
  const { width, isFolded } = useStored(pane, (state) => state);
  const frame = useRef<HTMLDivElement>(null);
  const verb = isFolded ? 'Show' : 'Hide';
  const pointsLeft = (side === 'left') !== isFolded;
  return (
    <div
      ref={frame}
      className={classNames('side-pane', `side-pane-${side}`, className)}
      data-folded={isFolded || undefined}
      style={width === undefined ? {} : { '--pane-width': `${width}px` }}
    >
      <div className="side-pane-content">{children}</div>
      {!isFolded && <Separator pane={pane} side={side} frame={frame} />}
      <button
        type="button"
        className="side-pane-fold"
        aria-label={`${verb} ${pane.name}`}
        aria-expanded={!isFolded}
        title={`${verb} ${pane.name}`}
        onClick={() => pane.setState({ width, isFolded: !isFolded })}
      >
        <span aria-hidden="true">{pointsLeft ? '‹' : '›'}</span>
      </button>
    </div>
  );
}

/** Pixels by which an arrow key resizes. */
const STEP = 16;

interface SeparatorProps extends Pick<SidePaneProps, 'pane' | 'side'> {
  frame: { current: HTMLElement | null };
}

/** The edge of the pane, which a person drags or moves by arrow keys. A double click restores the first width. */
function Separator({ pane, side, frame }: SeparatorProps) {
  const { width } = pane.getState();
  const resize = (to: number): void => {
    pane.setState({ isFolded: false, width: Math.round(Math.min(Math.max(to, pane.least), pane.most)) });
  };
  const drag = ({ buttons, clientX }: PointerEvent): void => {
    const box = frame.current?.getBoundingClientRect();
    if (buttons === 1 && box !== undefined) resize(side === 'left' ? clientX - box.left : box.right - clientX);
  };
  const nudge = (event: KeyboardEvent): void => {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    const from = frame.current?.getBoundingClientRect().width ?? pane.least;
    resize(from + (side === 'left' ? direction : -direction) * STEP);
  };
  return (
    // A separator that can be moved is a control, which the rule does not know.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      role="separator"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of ${pane.name}`}
      aria-valuemin={pane.least}
      aria-valuemax={pane.most}
      aria-valuenow={width ?? pane.least}
      className="side-pane-edge"
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => pane.setState({ width: undefined, isFolded: false })}
      onKeyDown={nudge}
    />
  );
}
