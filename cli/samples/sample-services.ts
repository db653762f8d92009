// The services of the samples in the project that `npm start` creates.
import { readOwnDocument } from '../../api/services/own-document.js';
import type { Db } from '../../db/core/client.js';
import { insertService, listServices, pageOfActions, replaceService } from '../../db/services/services-repository.js';
import { helpDeskDocument } from '../sandbox/help-desk.js';
import { loadSamples } from './samples.js';

/** Functions that create the OpenAPI documents of the sandbox, by the name of the service in samples. */
const DOCUMENTS: Readonly<Record<string, (server: string) => object>> = { 'help-desk': helpDeskDocument };
/** More than a document of the sandbox has. */
const MAX_ACTIONS = 20;

/** Creates the services that samples name, at this address. Returns their ids by name. */
export async function makeSampleServices(db: Db, projectId: number, baseUrl: string): Promise<Map<string, string>> {
  const names = new Set(loadSamples().flatMap(({ services = {} }) => Object.keys(services)));
  const made = new Map<string, string>();
  for (const name of names) {
    const stored = await insertService(db, projectId, readOwnDocument(DOCUMENTS[name]!(baseUrl)));
    if (typeof stored === 'string') throw new Error(`the service ${name} cannot be made: ${stored}`);
    made.set(name, stored.id);
  }
  return made;
}

/** Moves every service that still has the actions of a sandbox document at one of the earlier addresses. */
export async function moveSampleServices(
  db: Db,
  projectId: number,
  earlier: readonly string[],
  baseUrl: string,
): Promise<void> {
  for (const { id, name } of await listServices(db, projectId)) {
    const { actions } = await pageOfActions(db, { serviceId: id, limit: MAX_ACTIONS, offset: 0 });
    const moved = Object.values(DOCUMENTS).find((document) =>
      earlier.some((address) => hasActions(readOwnDocument(document(address)), actions)),
    );
    if (moved === undefined) continue;
    await replaceService(db, { projectId, id }, { ...readOwnDocument(moved(baseUrl)), name });
  }
}

interface PlacedAction {
  id: string;
  server: string;
}

function hasActions({ lists }: { lists: readonly string[] }, actions: readonly PlacedAction[]): boolean {
  const written = lists.flatMap((list) => JSON.parse(list) as PlacedAction[]);
  const places = (of: readonly PlacedAction[]): string => JSON.stringify(of.map(({ id, server }) => [id, server]));
  return written.length > 0 && places(written) === places(actions);
}
