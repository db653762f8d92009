// Creates the services of a sample from documents that the sandbox serves, through the public API.
import type { Sample } from '../samples/samples.js';
import type { DemoApi } from './demo-api.js';

/** Creates the services and adds their ids to `made`, by name. Returns sentences that say what was done. */
export async function addServices(
  api: DemoApi,
  { project, baseUrl }: { project: number; baseUrl: string },
  { services = {} }: Sample,
  made: Map<string, string>,
): Promise<string[]> {
  const sentences: string[] = [];
  for (const [key, path] of Object.entries(services)) {
    if (made.has(key)) continue;
    // The API would fetch a document only from an https address, which the sandbox does not have.
    const answer = await fetch(baseUrl + path);
    if (!answer.ok) throw new Error(`the document ${path} of the sandbox was answered with ${answer.status}`);
    const { id, name, action_count: count } = await api.createService(project, (await answer.json()) as object);
    made.set(key, id);
    sentences.push(`The document ${baseUrl}${path} has become the service "${name}" with ${count} actions.`);
  }
  return sentences;
}
