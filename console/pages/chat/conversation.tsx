import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ConfirmDelete } from '../../service/confirm-change.js';
import { isNotFound } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { submitHandler, useChange } from '../../service/queries.js';
import { useUser } from '../../service/session.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';
import { Menu } from '../../ui/menu.js';
import {
  deleteConversation,
  renameConversation,
  useConversation,
  type Conversation as StoredConversation,
} from '../../parts/chat/chat-calls.js';
import type { ChatWorkflow } from '../../parts/chat/chat-workflow.js';
import { titleOf } from './conversation-list.js';
import { Messages } from '../../parts/chat/message-log.js';

interface ConversationProps {
  workflow: ChatWorkflow;
  id: string;
}

export function Conversation({ workflow, id }: ConversationProps) {
  const { data, error, refetch, isFetching } = useConversation(id);
  const user = useUser();
  const isMissing = isNotFound(error) || (data !== undefined && data.workflow !== workflow.id);
  const isOwn = data !== undefined && data.author === user?.id;
  return (
    <section className="chat-main" aria-label="Conversation">
      <header className="chat-bar">
        <Link href={`/workflows/${workflow.id}/chat`} className="button button-quiet chat-back">
          Conversations
        </Link>
        <h2 className="chat-title">{isMissing ? 'Not found' : data === undefined ? '…' : titleOf(data)}</h2>
        {data !== undefined && !isMissing && isOwn && workflow.mayWrite && <Actions conversation={data} />}
      </header>
      {isMissing && <p className="chat-note">There is no such conversation, or it is not shared with you.</p>}
      {!isMissing && (
        <div className="chat-problem">
          <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
        </div>
      )}
      {data !== undefined && !isMissing && <Messages {...{ workflow, id, isOwn }} title={data.title} />}
    </section>
  );
}

function Actions({ conversation }: { conversation: StoredConversation }) {
  const [open, setOpen] = useState<'rename' | 'delete'>();
  const [, navigate] = useLocation();
  const close = (): void => setOpen(undefined);
  const { id, workflow } = conversation;
  return (
    <>
      <Menu
        label="Conversation"
        items={[
          { label: 'Rename', onSelect: () => setOpen('rename') },
          { label: 'Delete', onSelect: () => setOpen('delete'), isDangerous: true },
        ]}
      >
        <span aria-hidden="true">⋯</span>
      </Menu>
      {open === 'rename' && <RenameDialog conversation={conversation} onClose={close} />}
      {open === 'delete' && (
        <ConfirmDelete
          noun="conversation"
          remove={async () => {
            await deleteConversation(id);
            navigate(`/workflows/${workflow}/chat`);
          }}
          invalidates={['conversations']}
          onClose={close}
        >
          Its messages are gone for good, and what is being answered is cancelled. The runs stay.
        </ConfirmDelete>
      )}
    </>
  );
}

function RenameDialog({ conversation, onClose }: { conversation: StoredConversation; onClose: () => void }) {
  const [title, setTitle] = useState(conversation.title);
  const change = useChange(() => renameConversation(conversation.id, title.trim()), {
    invalidates: ['conversations'],
    announcement: 'The conversation is renamed.',
    onSuccess: onClose,
  });
  return (
    <Dialog title="Rename conversation" holdsText onClose={onClose}>
      <form className="node-form" onSubmit={submitHandler(change)}>
        <TextField label="Title" isRequired maxLength={255} value={title} onChange={setTitle} />
        <Problem error={change.error} />
        <Button type="submit" variant="primary" isBusy={change.isPending} disabled={title.trim() === ''}>
          Rename
        </Button>
      </form>
    </Dialog>
  );
}
