import { useId, useMemo } from 'react';
import { NODE_HEIGHT, NODE_WIDTH, toPicture } from '../../drawing/drawing-picture.js';
import { Button } from '../../ui/button.js';
import { classNames } from '../../ui/class-names.js';
import './gallery.css';
import type { Sample } from './sample.js';

interface SampleCardProps {
  sample: Sample;
  onUse: () => void;
  isBusy?: boolean;
  /** True if the sample is chosen; undefined if the button `Use` acts at once instead of choosing. */
  isChosen?: boolean | undefined;
}

export function SampleCard({ sample, onUse, isBusy = false, isChosen }: SampleCardProps) {
  const { title, line, tags, needs, drawing } = sample;
  const id = useId();
  return (
    <article className={classNames('sample', isChosen === true && 'sample-chosen')} aria-labelledby={id}>
      <SamplePicture drawing={drawing} />
      <h3 id={id} className="sample-title">
        {title}
      </h3>
      <p className="sample-line">{line}</p>
      <p className="sample-facts">
        {tags.map((tag) => (
          <span key={tag} className="sample-tag">
            {tag}
          </span>
        ))}
      </p>
      {needs.length > 0 && <p className="sample-needs">Needs {needs.join(', ')}.</p>}
      <Button
        className="sample-use"
        isBusy={isBusy}
        aria-label={`Use ${title}`}
        {...(isChosen !== undefined && { 'aria-pressed': isChosen })}
        onClick={onUse}
      >
        Use
      </Button>
    </article>
  );
}

/** The drawing without words, because they could not be read in this size. */
function SamplePicture({ drawing }: { drawing: unknown }) {
  const { nodes, links, width, height } = useMemo(() => toPicture(drawing), [drawing]);
  return (
    <svg className="sample-picture" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {links.map(({ from, to, branch }) => {
        const [x1, y1, x2, y2] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2, to.x, to.y + NODE_HEIGHT / 2];
        const bend = Math.max(24, Math.abs(x2 - x1) / 2);
        return (
          <path
            key={JSON.stringify([from.id, to.id, branch])}
            className="sample-link"
            d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
          />
        );
      })}
      {nodes.map(({ id, x, y }) => (
        <rect key={id} className="sample-node" x={x} y={y} width={NODE_WIDTH} height={NODE_HEIGHT} rx="12" />
      ))}
    </svg>
  );
}
