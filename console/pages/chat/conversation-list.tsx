import { Link } from 'wouter';
import { QueryPlaceholder } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { toVisibleText } from '../../ui/visible-json.js';
import { useConversations, type Conversation } from '../../parts/chat/chat-calls.js';

interface ConversationListProps {
  workflowId: number;
  openId: string | undefined;
  onOpen: () => void;
}

export function ConversationList({ workflowId, openId, onOpen }: ConversationListProps) {
  const query = useConversations(workflowId);
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const conversations = data?.pages.flatMap(({ items }) => items);
  return (
    <div className="chat-list-part">
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {conversations?.length === 0 && <Note>There is no conversation yet.</Note>}
      {conversations !== undefined && conversations.length > 0 && (
        <ul className="chat-list" aria-label="Conversations">
          {conversations.map((conversation) => (
            <li key={conversation.id}>
              <Row conversation={conversation} isOpen={conversation.id === openId} onOpen={onOpen} />
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

interface RowProps {
  conversation: Conversation;
  isOpen: boolean;
  onOpen: () => void;
}

function Row({ conversation, isOpen, onOpen }: RowProps) {
  const { id, workflow, user, created_at: createdAt } = conversation;
  return (
    <Link
      href={`/workflows/${workflow}/chat/${id}`}
      className="chat-row"
      onClick={onOpen}
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

/** Returns the title to show. The beginning of the next message replaces an empty stored title. */
export function titleOf({ title }: Pick<Conversation, 'title'>): string {
  return title.trim() === '' ? 'New conversation' : toVisibleText(title);
}
