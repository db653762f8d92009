import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api, unwrap } from '../../app/api.js';
import { isNotFound } from '../../app/explain.js';
import { Problem } from '../../app/problem.js';
import { mayAct } from '../../app/projects.js';
import { byType, nodesOf, startOf, typeOf, type Drawing, type NodeKinds } from '../../drawing/drawing.js';
import { asObject, ownValue } from '../../drawing/json.js';
import { classNames } from '../../ui/class-names.js';
import { Loading, Note } from '../../ui/notices.js';
import { NotFound, PageHeader, useTitle } from '../../ui/page-header.js';
import { runFields, type RunField } from '../workflow/run-input.js';
import './chat.css';
import { Conversation } from './conversation.js';
import { ConversationList, NewConversation } from './conversation-list.js';

/** The workflow of a chat, as its parts need it. */
export interface ChatWorkflow {
  id: number;
  title: string;
  projectId: number;
  /** Whether the person may write. */
  mayWrite: boolean;
  /** The fields of its trigger that the conversation itself does not give. */
  fields: readonly RunField[];
  /** The ids of the nodes that call tools. */
  agents: readonly string[];
}

interface ChatPageProps {
  workflowId: number;
  /** Undefined where none is chosen. */
  conversationId: string | undefined;
}

/** Conversations with a workflow. */
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

/** The conversation gives these fields to each run by itself. */
const OWN_FIELDS: readonly string[] = ['message', 'messages', 'conversation_id', 'files'];

function readDrawing(drawing: Drawing, kinds: NodeKinds): Pick<ChatWorkflow, 'fields' | 'agents'> {
  const agents = [...nodesOf(drawing)].filter(([, node]) => hasSteps(kinds, typeOf(node))).map(([id]) => id);
  const fields = startOf(drawing) === undefined ? [] : runFields(drawing, kinds);
  return { fields: fields.filter(({ id }) => !OWN_FIELDS.includes(id)), agents };
}

/** Agents are the nodes whose results tell their steps and what these have used. */
export function hasSteps(kinds: NodeKinds, type: string): boolean {
  const properties = asObject(asObject(kinds.get(type)?.output_schema)['properties']);
  return ownValue(properties, 'steps') !== undefined && ownValue(properties, 'usage') !== undefined;
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
  return (
    <div className={classNames('page-full chat', conversationId !== undefined && 'chat-open')}>
      <aside className="chat-side">
        <header className="chat-head">
          <h1>Chat</h1>
          <Link href={`/workflows/${workflow.id}`} className="chat-workflow">
            {workflow.title}
          </Link>
        </header>
        {workflow.mayWrite && <NewConversation workflow={workflow} />}
        <ConversationList workflowId={workflow.id} openId={conversationId} />
      </aside>
      {conversationId === undefined ? (
        <section className="chat-main chat-none" aria-label="No conversation">
          <p>{workflow.mayWrite ? 'Choose a conversation, or begin a new one.' : 'Choose a conversation.'}</p>
        </section>
      ) : (
        <Conversation key={conversationId} workflow={workflow} id={conversationId} />
      )}
    </div>
  );
}
