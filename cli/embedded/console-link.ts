import { parseEnvironment } from '../../config/environment.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { findProject } from '../../db/projects/projects-repository.js';
import { createSignInLink } from '../../db/sessions/sign-in-links-repository.js';
import { readSamplesFile } from '../samples/samples-file.js';
import { toConsoleUrl } from './console-url.js';
import type { StackFile } from './stack-file.js';

/**
 * Returns a link that signs the local user in to the console of a running stack, or the command that creates one.
 * Never rejects, because the stack works without the link. `env` is the environment of the stack.
 */
export async function describeConsole(stack: StackFile, env: NodeJS.ProcessEnv): Promise<string> {
  const { publicUrl, dataDir } = parseEnvironment(env);
  const base = env['PUBLIC_URL'] ? publicUrl : stack.api_url;
  return makeLocalLink(stack, base, dataDir).catch(
    () => 'npm run --silent admin -- console-link makes a link to sign in',
  );
}

/** Returns a link that signs the local user in, once and within ten minutes. */
async function makeLocalLink(stack: StackFile, publicUrl: string, dataDir: string): Promise<string> {
  const { database_url: url, user_id: userId } = stack;
  const db = createDatabase({ url, poolMax: 1, applicationName: 'supervisor', onError: () => undefined });
  try {
    return toConsoleUrl(publicUrl, await createSignInLink(db, userId), await landingPath(db, userId, dataDir));
  } finally {
    await db.destroy();
  }
}

/** Returns the path of the samples project in the console, or `/` if the user has deleted the project. */
async function landingPath(db: Database, userId: number, dataDir: string): Promise<string> {
  const projectId = readSamplesFile(dataDir)?.project_id;
  const project = projectId === undefined ? undefined : await findProject(db, projectId, { userId });
  return project === undefined ? '/' : `/workflows?project=${project.id}`;
}
