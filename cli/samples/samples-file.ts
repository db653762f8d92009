// DATA_DIR/samples.json: the samples project of the embedded stack, so that the stack creates it only once, and the
// settings that its drawings contain, so that the stack can replace them.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../embedded/atomic-file.js';
import { StartError } from '../embedded/start-error.js';
import type { HttpServer } from '../sandbox/http-server.js';
import { startSandboxTargets } from '../sandbox/targets.js';

const settingsSchema = z.object({
  /** The address of the samples' targets. */
  base_url: z.url({ protocol: /^http$/ }),
  model: z.string(),
});

const fileSchema = z.object({
  /**
   * The settings that the drawings contain, newest last. There are several only until all drawings contain the newest.
   */
  settings: z.array(settingsSchema).min(1),
  /** Absent until the project of the local user and its files are stored. */
  project_id: z.int().optional(),
});

export type SampleSettings = z.infer<typeof settingsSchema>;
type SamplesFile = z.infer<typeof fileSchema>;

function samplesFile(dataDir: string): string {
  return path.join(dataDir, 'samples.json');
}

/** Returns undefined before the first attempt to create the samples. Throws StartError if the file is unusable. */
export function readSamplesFile(dataDir: string): SamplesFile | undefined {
  const file = samplesFile(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new StartError(`${file} cannot be read: remove it, and the samples are made once more.`, { cause: error });
  }
}

export function writeSamplesFile(dataDir: string, file: SamplesFile): void {
  writeFileAtomic(samplesFile(dataDir), `${JSON.stringify(file, null, 2)}\n`);
}

/** Removes the id of the samples project from the file, because the project belongs to an earlier local user. */
export function forgetSamplesProject(dataDir: string): void {
  const file = readSamplesFile(dataDir);
  if (file?.project_id !== undefined) writeSamplesFile(dataDir, { settings: file.settings });
}

/**
 * Listens on the port of the last start of this data directory, because the drawings contain that address;
 * else on a free port.
 */
export async function startSampleTargets(dataDir: string): Promise<HttpServer> {
  const last = readSamplesFile(dataDir)?.settings.at(-1);
  if (last === undefined) return startSandboxTargets();
  // If another process has the port, such as the stack of a copied directory, `ensureSamples` updates the drawings.
  return startSandboxTargets(Number(new URL(last.base_url).port)).catch(() => startSandboxTargets());
}
