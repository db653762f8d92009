// Service calls about the connections of a project. See docs/use/connections.md.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';
import type {
  Connection,
  ConnectionBody,
  ConnectionKind,
  ConnectionToSignIn,
  Preset,
  TestOutcome,
  UsedBy,
} from './connection-types.js';

/** First part of the query keys about connections. */
export const CONNECTIONS = 'connections';

const POLL_EVERY_MS = 10_000;

/** All connections of a project by name, at most a few hundred. Polled, because runs and sign-ins change them. */
export function useConnections(projectId: number, isWanted = true): UseQueryResult<Connection[]> {
  return useQuery({
    queryKey: [CONNECTIONS, 'of-project', projectId],
    queryFn: ({ signal }) =>
      readAllPages((page) => {
        const params = { path: { id: projectId }, query: { page, size: 100 } };
        return unwrap(api.GET('/api/v1/projects/{id}/connections/', { params, signal }));
      }),
    enabled: isWanted,
    refetchInterval: POLL_EVERY_MS,
  });
}

/** Known services with their connection settings, by name. */
export function usePresets(): UseQueryResult<Preset[]> {
  return useQuery({
    queryKey: ['connection-presets'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/connection-presets/', { signal })),
    staleTime: Infinity,
  });
}

/**
 * Connections of all projects that need the person to sign in, because a run waits for them or their authorization was
 * lost. Other connections without a sign-in are not listed.
 */
export function useConnectionsToSignIn(): UseQueryResult<ConnectionToSignIn[]> {
  return useQuery({
    queryKey: [CONNECTIONS, 'to-sign-in'],
    queryFn: ({ signal }) =>
      readAllPages((page) => {
        const query = { status: 'needs_authorization', page, size: 100 } as const;
        return unwrap(api.GET('/api/v1/connections/', { params: { query }, signal }));
      }),
    refetchInterval: POLL_EVERY_MS,
  });
}

/** Workflows that use the connection, and the newest 100 open runs that have used it or wait for it. */
export function useUsedBy(projectId: number, id: number): UseQueryResult<UsedBy> {
  return useQuery({
    queryKey: [CONNECTIONS, 'used-by', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/projects/{id}/connections/{connection_id}/used-by/', { ...at(projectId, id), signal })),
  });
}

export function createConnection(projectId: number, kind: ConnectionKind, body: ConnectionBody): Promise<Connection> {
  const params = { path: { id: projectId } };
  return unwrap(api.POST('/api/v1/projects/{id}/connections/', { params, body: { ...body, kind } }));
}

export function changeConnection(projectId: number, id: number, body: ConnectionBody): Promise<Connection> {
  return unwrap(api.PATCH('/api/v1/projects/{id}/connections/{connection_id}/', { ...at(projectId, id), body }));
}

/** Unless `isForced`, throws a 409 that names up to five workflows that use the connection; `useUsedBy` returns all. */
export function deleteConnection(projectId: number, id: number, isForced: boolean): Promise<unknown> {
  const params = { ...at(projectId, id).params, ...(isForced && { query: { force: 'true' } as const }) };
  return unwrap(api.DELETE('/api/v1/projects/{id}/connections/{connection_id}/', { params }));
}

export function testConnection(projectId: number, id: number): Promise<TestOutcome> {
  const options = { ...at(projectId, id), body: {} };
  return unwrap(api.POST('/api/v1/projects/{id}/connections/{connection_id}/test/', options));
}

/** Starts a sign-in and returns the address of the provider's page. */
export async function authorize(projectId: number, id: number): Promise<string> {
  const path = '/api/v1/projects/{id}/connections/{connection_id}/authorize/';
  return (await unwrap(api.POST(path, at(projectId, id)))).url;
}

function at(projectId: number, connectionId: number) {
  return { params: { path: { id: projectId, connection_id: connectionId } } };
}
