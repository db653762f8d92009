import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useStore } from '../../drawing/editor-store.js';
import { Problem } from '../../service/problem.js';
import { ButtonLink } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { CheckboxField } from '../../ui/fields.js';
import { useStored } from '../../ui/store.js';
import { NewHookDialog } from '../../parts/starts/hook-dialogs.js';
import { HookArticles, ShownSecret } from '../../parts/starts/hooks.js';
import type { Hook, ShownHook } from '../../parts/starts/hook-data.js';
import type { Schedule } from '../../parts/starts/schedule-data.js';
import { ScheduleDialog } from '../../parts/starts/schedule-dialog.js';
import '../../parts/starts/starts.css';
import type { Saver } from './saver.js';

export type OpenStart =
  | { what: 'schedule'; schedule?: Schedule }
  | { what: 'hook'; hookId: number; secret?: ShownHook }
  | { what: 'new-hook' }
  | { what: 'chat' }
  | { what: 'tool' };

interface StartDialogProps {
  saver: Saver;
  open: OpenStart;
  hooks: readonly Hook[];
  onOpen: (open: OpenStart) => void;
  onClose: () => void;
}

/** The dialog of one way in which runs of the workflow start: a schedule, a hook, the chat or the MCP tool. */
export function StartDialog({ saver, open, hooks, onOpen, onClose }: StartDialogProps) {
  const { id } = saver.getState().workflow;
  switch (open.what) {
    case 'schedule':
      return <ScheduleDialog workflowId={id} of={open.schedule} onClose={onClose} />;
    case 'new-hook':
      return (
        <NewHookDialog
          workflowId={id}
          onClose={onClose}
          onMade={(made) => onOpen({ what: 'hook', hookId: made.id, secret: made })}
        />
      );
    case 'hook':
      return (
        <HookDialog workflowId={id} hook={hooks.find((hook) => hook.id === open.hookId)} {...open} {...{ onClose }} />
      );
    case 'chat':
      return (
        <OfferDialog saver={saver} field="is_chat" title="Chat" label="Offer as chat" onClose={onClose}>
          <ButtonLink to={`/workflows/${id}/chat`}>Open the chat</ButtonLink>
        </OfferDialog>
      );
    case 'tool':
    default:
      return (
        <OfferDialog saver={saver} field="is_tool" title="Tool" label="Offer as MCP tool" onClose={onClose}>
          <ButtonLink to={`/workflows/${id}/starts`}>Address and settings for clients</ButtonLink>
        </OfferDialog>
      );
  }
}

interface HookDialogProps {
  workflowId: number;
  /** Undefined once the hook is deleted, and until a new hook is in the loaded list. */
  hook: Hook | undefined;
  secret?: ShownHook;
  onClose: () => void;
}

function HookDialog({ workflowId, hook, secret, onClose }: HookDialogProps) {
  const { isReadOnly } = useStore();
  const [shown, setShown] = useState(secret);
  return (
    <Dialog title="Hook" onClose={onClose} holdsText={shown !== undefined}>
      <ShownSecret hook={shown} onDone={() => setShown(undefined)} />
      {hook === undefined ? (
        shown === undefined && <p>The hook is deleted.</p>
      ) : (
        <HookArticles hooks={[{ ...hook, workflow: { id: workflowId } }]} mayChange={!isReadOnly} onSecret={setShown} />
      )}
    </Dialog>
  );
}

interface OfferDialogProps {
  saver: Saver;
  field: 'is_chat' | 'is_tool';
  title: string;
  label: string;
  onClose: () => void;
  children: ReactNode;
}

/**
 * Offers the workflow as a chat or a tool, or no longer. Saves by way of the saver, so that the next save has the right
 * ETag.
 */
function OfferDialog({ saver, field, title, label, onClose, children }: OfferDialogProps) {
  const { isReadOnly } = useStore();
  const isOffered = useStored(saver, (state) => state.workflow[field]);
  const change = useMutation({ mutationFn: (next: boolean) => saver.changeDetails({ [field]: next }) });
  return (
    <Dialog title={title} onClose={onClose}>
      <Problem error={change.error} />
      <CheckboxField
        label={label}
        isChecked={change.isPending ? change.variables : isOffered}
        onChange={(next) => change.mutate(next)}
        disabled={isReadOnly}
      />
      <p>{children}</p>
    </Dialog>
  );
}
