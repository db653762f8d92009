// The actions of services that a search finds.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { JsonObject } from '../../../graph/json.js';
import { api, unwrap, type components } from '../../service/api.js';
import type { Choice } from '../../ui/search-list.js';
import { useSettled } from '../../ui/use-settled.js';

export interface FoundAction {
  service: components['schemas']['Service'];
  action: components['schemas']['Action'];
}

const MIN_LETTERS = 2;
const SERVICES = 5;
const ACTIONS = 8;
const PAUSE_MS = 250;

/** Finds services by name, with their first actions, and actions by title. Asks once the typing has paused. */
export function useActions(projectId: number, search: string): UseQueryResult<FoundAction[]> {
  const settled = useSettled(search.trim(), PAUSE_MS);
  return useQuery({
    queryKey: ['actions', projectId, settled],
    queryFn: async ({ signal }) => {
      const query = { project: projectId, search: settled, size: SERVICES };
      const { items } = await unwrap(api.GET('/api/v1/services/', { params: { query }, signal }));
      const found = await Promise.all(items.map((service) => actionsOf(service, settled, signal)));
      return found.flat();
    },
    enabled: settled.length >= MIN_LETTERS,
    staleTime: 60_000,
  });
}

async function actionsOf(service: FoundAction['service'], search: string, signal: AbortSignal): Promise<FoundAction[]> {
  const isNamed = service.name.toLowerCase().includes(search.toLowerCase());
  const query = { size: ACTIONS, ...(!isNamed && { search }) };
  const params = { path: { service_id: service.id }, query };
  const { items } = await unwrap(api.GET('/api/v1/services/{service_id}/actions/', { params, signal }));
  return items.map((action) => ({ service, action }));
}

/** Reads what the service says of an action. */
export function useAction(serviceId: string, actionId: string): UseQueryResult<components['schemas']['Action']> {
  return useQuery({
    queryKey: ['action', serviceId, actionId],
    queryFn: ({ signal }) => {
      const params = { path: { service_id: serviceId, action_id: actionId } };
      return unwrap(api.GET('/api/v1/services/{service_id}/actions/{action_id}/', { params, signal }));
    },
    staleTime: 300_000,
  });
}

/** What a search list shows of an action, and what a drawing says of it. */
export function toChoice({ service, action }: FoundAction, at: number): Choice & { fields: JsonObject } {
  return {
    id: `action${at}`,
    name: `${service.name}: ${action.title}`,
    detail: `${action.method} ${action.path}`,
    fields: { service: service.id, id: action.id },
  };
}
