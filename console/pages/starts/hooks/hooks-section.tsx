import { useState } from 'react';
import { Problem } from '../../../app/problem.js';
import { Button } from '../../../ui/button.js';
import { NewSecret } from '../../../ui/copy-button.js';
import { Loading, Note } from '../../../ui/notices.js';
import { DeleteHook } from './delete-hook.js';
import { HookArticle } from './hook-article.js';
import { NewHookDialog } from './new-hook-dialog.js';
import { ReplaceSecretDialog } from './replace-secret-dialog.js';
import { useHooks, type Hook, type ShownHook } from './use-hooks.js';

type Open = { dialog: 'new' } | { dialog: 'secret' | 'delete'; hook: Hook };

interface HooksSectionProps {
  workflowId: number;
  mayChange: boolean;
}

/** The addresses at which other services start runs of the workflow. */
export function HooksSection({ workflowId, mayChange }: HooksSectionProps) {
  const { data, error, refetch, isFetching } = useHooks(workflowId);
  const [open, setOpen] = useState<Open>();
  const [shown, setShown] = useState<ShownHook>();
  const close = (): void => setOpen(undefined);
  const secret = shown?.secret;
  return (
    <section className="starts-section" aria-labelledby="hooks-heading">
      <div className="starts-head">
        <h2 id="hooks-heading">Hooks</h2>
        {mayChange && <Button onClick={() => setOpen({ dialog: 'new' })}>New hook</Button>}
      </div>
      <p className="starts-lead">
        A hook is a URL to which another service posts its events. Each event starts a run, whose input is the body.
      </p>
      {shown !== undefined && secret !== undefined && (
        <NewSecret
          key={secret}
          title={`Signing secret of hook ${shown.id}`}
          text={secret}
          copyLabel="Copy secret"
          onDone={() => setShown(undefined)}
        />
      )}
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data?.length === 0 && <p className="starts-empty">The workflow has no hooks.</p>}
      {!mayChange && data !== undefined && data.length > 0 && (
        <Note>Your role in this project is viewer. Its editors see the URLs, and make and delete hooks.</Note>
      )}
      {data?.map((hook) => (
        <HookArticle
          key={hook.id}
          hook={hook}
          mayChange={mayChange}
          onReplace={() => setOpen({ dialog: 'secret', hook })}
          onDelete={() => setOpen({ dialog: 'delete', hook })}
        />
      ))}
      {open?.dialog === 'new' && <NewHookDialog workflowId={workflowId} onClose={close} onMade={setShown} />}
      {open?.dialog === 'secret' && (
        <ReplaceSecretDialog workflowId={workflowId} of={open.hook} onClose={close} onReplaced={setShown} />
      )}
      {open?.dialog === 'delete' && <DeleteHook workflowId={workflowId} of={open.hook} onClose={close} />}
    </section>
  );
}
