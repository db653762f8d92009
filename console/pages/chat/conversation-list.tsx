import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Awaited, Problem } from '../../service/problem.js';
import { submits } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { toVisibleText } from '../../ui/visible-json.js';
import { useRunInput } from '../../parts/run-input/run-input-form.js';
import { createConversation, useConversations, type Conversation } from './chat-calls.js';
import type { ChatWorkflow } from './chat-workflow.js';

interface ConversationListProps {
  workflowId: number;
  openId: string | undefined;
}

export function ConversationList({ workflowId, openId }: ConversationListProps) {
  const query = useConversations(workflowId);
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const conversations = data?.pages.flatMap(({ items }) => items);
  return (
    <div className="chat-list-part">
      <Awaited data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {conversations?.length === 0 && <Note>There is no conversation yet.</Note>}
      {conversations !== undefined && conversations.length > 0 && (
        <ul className="chat-list" aria-label="Conversations">
          {conversations.map((conversation) => (
            <li key={conversation.id}>
              <Row conversation={conversation} isOpen={conversation.id === openId} />
            </li>
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older conversations
        </Button>
      )}
    </div>
  );
}

function Row({ conversation, isOpen }: { conversation: Conversation; isOpen: boolean }) {
  const { id, workflow, user, created_at: createdAt } = conversation;
  return (
    <Link
      href={`/workflows/${workflow}/chat/${id}`}
      className="chat-row"
      {...(isOpen && { 'aria-current': 'page' as const })}
    >
      <span className="chat-row-title">{titleOf(conversation)}</span>
      <span className="chat-row-facts">
        <Time at={createdAt} />
        {user !== null && <>, {toVisibleText(user)}</>}
      </span>
    </Link>
  );
}

/** The first message becomes the title of a conversation. */
export function titleOf({ title }: Pick<Conversation, 'title'>): string {
  return title.trim() === '' ? 'New conversation' : toVisibleText(title);
}

/** Creates a conversation. If the trigger has more fields than a message fills in, asks for them first. */
export function NewConversation({ workflow }: { workflow: ChatWorkflow }) {
  const [isAsking, setIsAsking] = useState(false);
  const creation = useCreation(workflow.id);
  return (
    <>
      <Button
        variant="primary"
        isBusy={creation.isPending}
        onClick={() => (workflow.fields.length > 0 ? setIsAsking(true) : creation.mutate({}))}
      >
        New conversation
      </Button>
      {!isAsking && <Problem error={creation.error} />}
      {isAsking && <InputsDialog workflow={workflow} onClose={() => setIsAsking(false)} />}
    </>
  );
}

function useCreation(workflowId: number, onDone?: () => void) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    mutationFn: (inputs: unknown) => createConversation(workflowId, inputs),
    onSuccess: async ({ id }) => {
      onDone?.();
      navigate(`/workflows/${workflowId}/chat/${id}`);
      await queries.invalidateQueries({ queryKey: ['conversations', workflowId] });
    },
  });
}

function InputsDialog({ workflow, onClose }: { workflow: ChatWorkflow; onClose: () => void }) {
  const { input, form } = useRunInput({ fields: workflow.fields, projectId: workflow.projectId });
  const creation = useCreation(workflow.id, onClose);
  const submission = { isPending: creation.isPending, mutate: () => creation.mutate(input) };
  return (
    <Dialog title="New conversation" holdsText onClose={onClose}>
      <form className="node-form" onSubmit={submits(submission)}>
        <p>These fields go with each message of the conversation.</p>
        {form}
        <Problem error={creation.error} />
        <Button type="submit" variant="primary" isBusy={creation.isPending} disabled={input === undefined}>
          Begin
        </Button>
      </form>
    </Dialog>
  );
}
