import type { HttpServer } from '../sandbox/http-server.js';
import { startSandboxTargets } from '../sandbox/targets.js';
import { readSamplesFile } from './samples-file.js';

/** Listens where the last start of this data directory did, because the drawings name that address; else on a free port. */
export async function startSampleTargets(dataDir: string): Promise<HttpServer> {
  const last = readSamplesFile(dataDir)?.settings.at(-1);
  if (last === undefined) return startSandboxTargets();
  // Another process, such as the stack of a copied directory, has the port: `ensureSamples` moves the drawings.
  return startSandboxTargets(Number(new URL(last.base_url).port)).catch(() => startSandboxTargets());
}
