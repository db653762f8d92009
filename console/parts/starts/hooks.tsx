import { useState } from 'react';
import { ConfirmDelete } from '../../service/confirm-change.js';
import { QueryPlaceholder } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { CopyButton, NewSecret } from '../../ui/copy-button.js';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { deleteHook, outcomeOf, signatureOf, useHooks, type ListedHook, type ShownHook } from './hook-data.js';
import { NewHookDialog, ReplaceSecretDialog } from './hook-dialogs.js';
import { StartsList, WorkflowOfStart } from './starts-list.js';

interface HooksSectionProps {
  workflowId: number;
  mayChange: boolean;
}

/** Addresses at which other services start runs of the workflow. */
export function HooksSection({ workflowId, mayChange }: HooksSectionProps) {
  const { data, error, refetch, isFetching } = useHooks(workflowId);
  const [isNew, setIsNew] = useState(false);
  const [shown, setShown] = useState<ShownHook>();
  return (
    <StartsList kind="hooks" onNew={mayChange ? () => setIsNew(true) : undefined}>
      <ShownSecret hook={shown} onDone={() => setShown(undefined)} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.length === 0 && <p className="starts-empty">The workflow has no hooks.</p>}
      {data !== undefined && (
        <HookArticles
          hooks={data.map((hook) => ({ ...hook, workflow: { id: workflowId } }))}
          mayChange={mayChange}
          onSecret={setShown}
        />
      )}
      {isNew && <NewHookDialog workflowId={workflowId} onClose={() => setIsNew(false)} onMade={setShown} />}
    </StartsList>
  );
}

/** The secret that a hook was just given, shown only once. */
export function ShownSecret({ hook, onDone }: { hook: ShownHook | undefined; onDone: () => void }) {
  if (hook?.secret === undefined) return null;
  const { id, secret } = hook;
  return (
    <NewSecret
      key={secret}
      title={`Signing secret of hook ${id}`}
      text={secret}
      copyLabel="Copy secret"
      onDone={onDone}
    />
  );
}

interface HookArticlesProps {
  hooks: readonly ListedHook[];
  mayChange: boolean;
  /** Called with a hook whose new secret must be shown. */
  onSecret: (hook: ShownHook) => void;
}

export function HookArticles({ hooks, mayChange, onSecret }: HookArticlesProps) {
  const [open, setOpen] = useState<{ dialog: 'secret' | 'delete'; hook: ListedHook }>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      {!mayChange && hooks.length > 0 && (
        <Note>Your role in this project is viewer. Its editors see the URLs, and make and delete hooks.</Note>
      )}
      {hooks.map((hook) => (
        <HookArticle
          key={hook.id}
          hook={hook}
          mayChange={mayChange}
          onReplace={() => setOpen({ dialog: 'secret', hook })}
          onDelete={() => setOpen({ dialog: 'delete', hook })}
        />
      ))}
      {open?.dialog === 'secret' && <ReplaceSecretDialog of={open.hook} onClose={close} onReplaced={onSecret} />}
      {open?.dialog === 'delete' && (
        <ConfirmDelete
          noun="hook"
          remove={() => deleteHook(open.hook.workflow.id, open.hook.id)}
          invalidates={['hooks']}
          onClose={close}
        >
          The URL of hook {open.hook.id} is unknown from then on, and what is sent to it is lost. It never comes back: a
          new hook has another URL.
        </ConfirmDelete>
      )}
    </>
  );
}

interface HookArticleProps {
  hook: ListedHook;
  mayChange: boolean;
  onReplace: () => void;
  onDelete: () => void;
}

function HookArticle({ hook, mayChange, onReplace, onDelete }: HookArticleProps) {
  const heading = `hook-${hook.id}`;
  return (
    <article className="card" aria-labelledby={heading}>
      <div className="starts-head">
        <h3 id={heading}>Hook {hook.id}</h3>
        <span className="start-kind">{signatureOf(hook)}</span>
        <WorkflowOfStart workflow={hook.workflow} />
      </div>
      {hook.url !== undefined && (
        <div className="start-address">
          <code className="start-url">{hook.url}</code>
          <CopyButton text={hook.url} label="Copy URL" />
        </div>
      )}
      {hook.inactive_reason !== null && (
        <p className="start-problem">
          It starts no runs: {hook.author.name} may not run the workflow any more. Delete it and make a new one, or give{' '}
          {hook.author.name} a role in the project that may run it.
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
