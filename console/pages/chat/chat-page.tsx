import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { isNotFound } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { mayAct } from '../../service/projects.js';
import { byType } from '../../drawing/drawing.js';
import { Button } from '../../ui/button.js';
import { classNames } from '../../ui/class-names.js';
import { Loading, Note } from '../../ui/notices.js';
import { NotFound, PageHeader, useTitle } from '../../ui/page-header.js';
import { readDrawing, type ChatWorkflow } from '../../parts/chat/chat-workflow.js';
import { FirstMessage } from '../../parts/chat/first-message.js';
import './chat.css';
import { Conversation } from './conversation.js';
import { ConversationList } from './conversation-list.js';

interface ChatPageProps {
  workflowId: number;
  /** Undefined if no conversation is selected. */
  conversationId: string | undefined;
}

export function ChatPage({ workflowId, conversationId }: ChatPageProps) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['workflow', workflowId, 'chat'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/workflows/{id}/', { params: { path: { id: workflowId } }, signal })),
  });
  const kinds = useQuery({
    queryKey: ['node-kinds'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/workflows/get_nodes/', { signal })),
    staleTime: Infinity,
  });
  const workflow = useMemo(() => {
    if (data === undefined || kinds.data === undefined) return undefined;
    const { id, title, project: projectId, role } = data;
    return { id, title, projectId, mayWrite: mayAct(role, 'editor'), ...readDrawing(data.data, byType(kinds.data)) };
  }, [data, kinds.data]);
  if (isNotFound(error)) return <NotFound />;
  const problem = error ?? kinds.error;
  if (problem !== null && workflow === undefined) {
    const retry = (): void => void Promise.all([refetch(), kinds.refetch()]);
    return (
      <>
        <PageHeader title="Chat" />
        <Problem error={problem} onRetry={retry} isRetrying={isFetching || kinds.isFetching} />
      </>
    );
  }
  if (workflow === undefined) return <Loading label="Loading the chat" />;
  if (data?.is_chat !== true) return <NoChat workflow={workflow} />;
  return <Chat workflow={workflow} conversationId={conversationId} />;
}

function NoChat({ workflow }: { workflow: ChatWorkflow }) {
  return (
    <>
      <PageHeader title="Chat" />
      <Note>
        <p>
          The workflow <Link href={`/workflows/${workflow.id}`}>{workflow.title}</Link> is no chat.{' '}
          {workflow.mayWrite ? (
            <>
              Offer it as one under <Link href={`/workflows/${workflow.id}/starts`}>Starts by itself</Link>.
            </>
          ) : (
            'Editors of the project can make it one.'
          )}
        </p>
      </Note>
    </>
  );
}

function Chat({ workflow, conversationId }: { workflow: ChatWorkflow; conversationId: string | undefined }) {
  useTitle(`Chat: ${workflow.title}`);
  const [, navigate] = useLocation();
  /** True after a press of "New conversation". On narrow screens, the new conversation then replaces the list. */
  const [isNew, setIsNew] = useState(false);
  /** Counts the presses of "New conversation". With a mouse, each press gives the field for the message the focus. */
  const [presses, setPresses] = useState(0);
  const isOpen = conversationId !== undefined || isNew;
  return (
    <div className={classNames('page-full chat', isOpen && 'chat-open')}>
      <aside className="chat-side">
        <header className="chat-head">
          <h1>Chat</h1>
          <Link href={`/workflows/${workflow.id}`} className="chat-workflow">
            {workflow.title}
          </Link>
        </header>
        {workflow.mayWrite && (
          <Button
            variant="primary"
            onClick={() => {
              setIsNew(true);
              setPresses(presses + 1);
              navigate(`/workflows/${workflow.id}/chat`);
            }}
          >
            New conversation
          </Button>
        )}
        <ConversationList workflowId={workflow.id} openId={conversationId} onOpen={() => setIsNew(false)} />
      </aside>
      {conversationId !== undefined ? (
        <Conversation key={conversationId} workflow={workflow} id={conversationId} />
      ) : workflow.mayWrite ? (
        <section className="chat-main chat-new" aria-label="New conversation">
          <header className="chat-bar">
            <Button variant="quiet" className="chat-back" onClick={() => setIsNew(false)}>
              Conversations
            </Button>
            <h2 className="chat-title">New conversation</h2>
          </header>
          <FirstMessage
            key={workflow.id}
            workflow={workflow}
            presses={presses}
            onBegun={(id) => {
              setIsNew(false);
              navigate(`/workflows/${workflow.id}/chat/${id}`);
            }}
          />
        </section>
      ) : (
        <section className="chat-main chat-none" aria-label="No conversation">
          <p>Choose a conversation.</p>
        </section>
      )}
    </div>
  );
}
