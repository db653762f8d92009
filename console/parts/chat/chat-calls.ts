// Service calls about conversations. See docs/use/conversations.md.
import { useInfiniteQuery, useQuery, useQueryClient, type QueryKey } from '@tanstack/react-query';
import { api, ServiceError, unwrap, type components } from '../../service/api.js';
import { explain, isNotFound } from '../../service/explain.js';
import { queryClient } from '../../service/queries.js';
import { isObject } from '../../../graph/json.js';
import { asArray } from '../../ui/json.js';
import type { FileValue } from '../../service/file-value.js';
import { firstLoaded, PAGE_SIZE, readAgainEvery, readNewest, together, type Loaded, type Message } from './messages.js';

export type Conversation = components['schemas']['Conversation'];

const LIST_SIZE = 50;

/** Conversations that the person may read, newest first. */
export function useConversations(workflowId: number) {
  return useInfiniteQuery({
    queryKey: ['conversations', workflowId],
    initialPageParam: 1,
    queryFn: ({ pageParam: page, signal }) => {
      const params = { path: { id: workflowId }, query: { page, size: LIST_SIZE } };
      return unwrap(api.GET('/api/v1/workflows/{id}/conversations/', { params, signal }));
    },
    getNextPageParam: ({ page, size, total }) => (page * size < total ? page + 1 : undefined),
  });
}

export function useConversation(id: string) {
  const params = { path: { conversation_id: id } };
  return useQuery({
    queryKey: ['conversations', 'one', id],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/conversations/{conversation_id}/', { params, signal })),
  });
}

export function createConversation(workflowId: number, inputs: unknown): Promise<Conversation> {
  const params = { path: { id: workflowId } };
  return unwrap(api.POST('/api/v1/workflows/{id}/conversations/', { params, body: { title: '', inputs } }));
}

export function renameConversation(id: string, title: string): Promise<Conversation> {
  const params = { path: { conversation_id: id } };
  return unwrap(api.PATCH('/api/v1/conversations/{conversation_id}/', { params, body: { title } }));
}

export function deleteConversation(id: string): Promise<unknown> {
  return unwrap(api.DELETE('/api/v1/conversations/{conversation_id}/', { params: { path: { conversation_id: id } } }));
}

export interface Saying {
  content: string;
  files: readonly FileValue[];
  /**
   * Id of the message that this one replaces. The service then cancels the current answer and all queued messages,
   * because they belong to the replaced branch.
   */
  replaces: string | undefined;
}

export function sendMessage(id: string, { content, files, replaces }: Saying, key: string) {
  const params = { path: { conversation_id: id }, header: { 'Idempotency-Key': key } };
  const body = {
    content,
    files: files.map(({ file_id: fileId }) => fileId),
    ...(replaces === undefined ? { on_busy: 'queue' as const } : { on_busy: 'stop' as const, replaces }),
  };
  return unwrap(api.POST('/api/v1/conversations/{conversation_id}/messages/', { params, body }));
}

export function cancelRun(workflowId: number, runId: string): Promise<unknown> {
  const params = { path: { id: workflowId, run_id: runId } };
  return unwrap(api.POST('/api/v1/workflows/{id}/history/{run_id}/cancel/', { params }));
}

function messagesKey(id: string): QueryKey {
  return ['messages', id];
}

async function readPage(id: string, page: number, signal?: AbortSignal): Promise<{ items: Message[]; total: number }> {
  const params = { path: { conversation_id: id }, query: { page, size: PAGE_SIZE } };
  const options = { params, ...(signal && { signal }) };
  return unwrap(api.GET('/api/v1/conversations/{conversation_id}/messages/', options));
}

/** True if the conversation is there and has no message. */
export async function isUnused(id: string): Promise<boolean> {
  try {
    return (await readPage(id, 1)).total === 0;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** The loaded messages: the newest, and the older pages that were asked for. */
export function useMessages(id: string) {
  return useQuery({
    queryKey: messagesKey(id),
    queryFn: async ({ signal }) => {
      const known = queryClient.getQueryData<Loaded>(messagesKey(id));
      const read = await readNewest(known, (page) => readPage(id, page, signal));
      return together(queryClient.getQueryData<Loaded>(messagesKey(id)), read);
    },
    structuralSharing: false,
    // The page learns of the progress of runs that are not streamed only from their messages.
    refetchInterval: ({ state }) => readAgainEvery(state.data),
  });
}

export function useReadAgain(id: string): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: messagesKey(id) });
}

export async function readOlder(id: string): Promise<void> {
  const known = queryClient.getQueryData<Loaded>(messagesKey(id));
  if (known === undefined || firstLoaded(known) === 1) return;
  const page = firstLoaded(known) - 1;
  const { items, total } = await readPage(id, page);
  queryClient.setQueryData<Loaded>(messagesKey(id), (now) =>
    together({ pages: new Map([[page, items]]), total }, now!),
  );
}

/** Explains why a message was refused. Fields of the workflow's input appear with their ids. */
export function explainRefusal(error: unknown): string {
  const errors = error instanceof ServiceError && isObject(error.body) ? error.body['errors'] : undefined;
  if (!isObject(errors)) return explain(error);
  const parts = Object.entries(errors).map(([field, sentences]) => `${field}: ${asArray(sentences).join(' ')}`);
  return `${explain(error)} ${parts.join(' ')}`.trim();
}
