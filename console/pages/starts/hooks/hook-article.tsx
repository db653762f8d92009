import { Button } from '../../../ui/button.js';
import { CopyButton } from '../../../ui/copy-button.js';
import { Time } from '../../../ui/figures.js';
import { outcomeOf, signatureOf } from './signatures.js';
import type { Hook } from './use-hooks.js';

interface HookArticleProps {
  hook: Hook;
  mayChange: boolean;
  onReplace: () => void;
  onDelete: () => void;
}

export function HookArticle({ hook, mayChange, onReplace, onDelete }: HookArticleProps) {
  const heading = `hook-${hook.id}`;
  return (
    <article className="start" aria-labelledby={heading}>
      <div className="starts-head">
        <h3 id={heading}>Hook {hook.id}</h3>
        <span className="start-kind">{signatureOf(hook)}</span>
      </div>
      {hook.url !== undefined && (
        <div className="start-address">
          <code className="start-url">{hook.url}</code>
          <CopyButton text={hook.url} label="Copy URL" />
        </div>
      )}
      {hook.inactive_reason !== null && (
        <p className="start-problem">
          It starts no runs: {hook.author.name} may not run the workflow any more. Delete it and make a new one, or give
          the role back.
        </p>
      )}
      <dl className="start-facts">
        <dt>Starts runs as</dt>
        <dd>{hook.author.name}</dd>
        <dt>Made</dt>
        <dd>
          <Time at={hook.created_at} />
        </dd>
        <dt>Last delivery</dt>
        <dd>
          {hook.last_delivery === null ? (
            'None yet'
          ) : (
            <>
              <Time at={hook.last_delivery.at} />, {outcomeOf(hook.last_delivery.status)}
            </>
          )}
        </dd>
      </dl>
      {mayChange && (
        <div className="start-buttons">
          {hook.verify !== 'none' && (
            <Button variant="quiet" onClick={onReplace}>
              Replace secret
            </Button>
          )}
          <Button variant="quiet" onClick={onDelete}>
            Delete
          </Button>
        </div>
      )}
    </article>
  );
}
