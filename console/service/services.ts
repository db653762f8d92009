// Queries for services and their actions (docs/use/services.md).
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { JsonObject } from '../../graph/json.js';
import type { Choice } from '../ui/search-list.js';
import { useSettled } from '../ui/use-settled.js';
import { api, unwrap, type components } from './api.js';
import { readAllPages } from './calls.js';

export type Service = components['schemas']['Service'];
export type Action = components['schemas']['Action'];

/** First part of the query keys about services and their actions. */
export const SERVICES = 'services';

const PAUSE_MS = 250;

/** The services of a project, then those of the catalogue. With `search`, only services that contain its words. */
export function useServices(projectId: number, search = ''): UseQueryResult<Service[]> {
  const settled = useSettled(search.trim(), PAUSE_MS);
  return useQuery({
    queryKey: [SERVICES, 'of-project', projectId, settled],
    queryFn: ({ signal }) =>
      readAllPages((page) => {
        const query = { project: projectId, page, size: 100, ...(settled !== '' && { search: settled }) };
        return unwrap(api.GET('/api/v1/services/', { params: { query }, signal }));
      }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}

/** Returns the name of a service of the project or the catalogue; its id while no such service is loaded. */
export function useServiceName(projectId: number, id: string): string {
  const { data } = useServices(projectId);
  return data?.find((service) => service.id === id)?.name ?? id;
}

interface PageOfActions {
  items: Action[];
  total: number;
}

/** The first actions of a service; with `search`, the first that contain its words. */
export function useActionsOf(serviceId: string, search: string, size: number): UseQueryResult<PageOfActions> {
  const settled = useSettled(search.trim(), PAUSE_MS);
  return useQuery({
    queryKey: [SERVICES, 'actions', serviceId, settled, size],
    queryFn: ({ signal }) => readActions(serviceId, settled, { size, signal }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}

function readActions(
  serviceId: string,
  search: string,
  { size, signal }: { size: number; signal: AbortSignal },
): Promise<PageOfActions> {
  const params = { path: { service_id: serviceId }, query: { size, ...(search !== '' && { search }) } };
  return unwrap(api.GET('/api/v1/services/{service_id}/actions/', { params, signal }));
}

export interface FoundAction {
  service: Service;
  action: Action;
}

const MIN_LETTERS = 2;
/**
 * The first `RANKED` found services are sorted: those with a typed word in their name come first. Of the first
 * `MOST_SERVICES` of them, `MOST_ACTIONS` actions each are loaded.
 */
const RANKED = 25;
const MOST_SERVICES = 5;
const MOST_ACTIONS = 12;

interface ActionSearch {
  /** Empty until the response for the typed text arrives, so that Enter cannot choose a result of an earlier text. */
  found: readonly FoundAction[];
  isSearching: boolean;
  query: UseQueryResult<FoundAction[]>;
}

/**
 * Finds services by name or description, with their first actions, and actions by title. Sends requests after a pause
 * in typing.
 */
export function useActions(projectId: number, search: string): ActionSearch {
  const typed = search.trim();
  const settled = useSettled(typed, PAUSE_MS);
  const query = useQuery({
    queryKey: [SERVICES, 'found', projectId, settled],
    queryFn: async ({ signal }) => {
      const params = { query: { project: projectId, search: settled, size: RANKED } };
      const { items } = await unwrap(api.GET('/api/v1/services/', { params, signal }));
      const words = settled.toLowerCase().split(/\s+/);
      const isNamed = ({ name }: Service): boolean => words.some((word) => name.toLowerCase().includes(word));
      const first = items.toSorted((one, other) => Number(isNamed(other)) - Number(isNamed(one)));
      const found = await Promise.all(
        first.slice(0, MOST_SERVICES).map(async (service) => {
          const read = (wanted: string) => readActions(service.id, wanted, { size: MOST_ACTIONS, signal });
          const { items: named } = await read(withoutName(words, service));
          // A service that is found by its description offers its first actions.
          const actions = named.length > 0 ? named : (await read('')).items;
          return actions.map((action) => ({ service, action }));
        }),
      );
      return found.flat();
    },
    enabled: settled.length >= MIN_LETTERS,
    staleTime: 60_000,
  });
  const isCurrent = settled === typed && query.data !== undefined;
  return {
    found: isCurrent ? query.data : [],
    isSearching: typed.length >= MIN_LETTERS && !isCurrent && query.error === null,
    query,
  };
}

/** Returns those typed words that the service's name lacks, to filter its actions; an empty text selects all. */
function withoutName(words: readonly string[], { name }: Service): string {
  return words.filter((word) => !name.toLowerCase().includes(word)).join(' ');
}

/** Loads one action of a service. Sends no request while an id is empty. */
export function useAction(serviceId: string, actionId: string): UseQueryResult<Action> {
  return useQuery({
    queryKey: [SERVICES, 'action', serviceId, actionId],
    queryFn: ({ signal }) => {
      const params = { path: { service_id: serviceId, action_id: actionId } };
      return unwrap(api.GET('/api/v1/services/{service_id}/actions/{action_id}/', { params, signal }));
    },
    enabled: serviceId !== '' && actionId !== '',
    staleTime: 300_000,
  });
}

/** Returns the entry of an action in a search list, with the fields by which a drawing refers to the action. */
export function toChoice({ service, action }: FoundAction, at: number): Choice & { fields: JsonObject } {
  return {
    id: `action${at}`,
    name: `${service.name}: ${action.title}`,
    detail: `${action.method} ${action.path}`,
    fields: { service: service.id, id: action.id },
  };
}
