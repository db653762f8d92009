// Makes the services of a sample of the documents that the sandbox serves, through the public API.
import type { Sample } from '../samples/samples.js';
import type { DemoApi } from './demo-api.js';

/** Adds the services to `made`, where ids of services stand by their names. Returns what was done, as sentences. */
export async function addServices(
  api: DemoApi,
  { project, baseUrl }: { project: number; baseUrl: string },
  { services = {} }: Sample,
  made: Map<string, string>,
): Promise<string[]> {
  const sentences: string[] = [];
  for (const [key, path] of Object.entries(services)) {
    if (made.has(key)) continue;
    // The sandbox has no https address, from which the service would fetch the document itself.
    const answer = await fetch(baseUrl + path);
    if (!answer.ok) throw new Error(`the document ${path} of the sandbox was answered with ${answer.status}`);
    const { id, name, action_count: count } = await api.createService(project, (await answer.json()) as object);
    made.set(key, id);
    sentences.push(`The document ${baseUrl}${path} has become the service "${name}" with ${count} actions.`);
  }
  return sentences;
}
