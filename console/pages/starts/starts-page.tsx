import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '../../service/api.js';
import { isNotFound } from '../../service/explain.js';
import { QueryPlaceholder } from '../../service/problem.js';
import { ButtonLink } from '../../ui/button.js';
import { NotFound, PageHeader } from '../../ui/page-header.js';
import { StartsSections } from './starts-sections.js';

/** The ways to start runs of the workflow other than by hand: schedules, hooks, MCP clients and chats. */
export function StartsPage({ workflowId }: { workflowId: number }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['workflow', workflowId, 'starts'],
    queryFn: async ({ signal }) => {
      const params = { path: { id: workflowId } };
      const { title, role, is_chat: isChat } = await unwrap(api.GET('/api/v1/workflows/{id}/', { params, signal }));
      return { title, role, isChat };
    },
  });
  if (isNotFound(error)) return <NotFound />;
  return (
    <>
      <PageHeader
        title="Starts by itself"
        actions={<ButtonLink to={`/workflows/${workflowId}`}>{data?.title ?? 'To the workflow'}</ButtonLink>}
      />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && <StartsSections workflowId={workflowId} role={data.role} isChat={data.isChat} />}
    </>
  );
}
