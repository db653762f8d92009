// DATA_DIR/samples.json: which project the embedded stack has made of the sample workflows, so that it makes them once.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../embedded/atomic-file.js';
import { StartError } from '../embedded/start-error.js';
import type { HttpServer } from '../sandbox/http-server.js';
import { startSandboxTargets } from '../sandbox/targets.js';

const settingsSchema = z.object({
  /** The address at which the targets of the samples answer. */
  base_url: z.url({ protocol: /^http$/ }),
  model: z.string(),
});

const fileSchema = z.object({
  /**
   * The addresses that the drawings name. There are several, the newest last, only until the drawings name the newest.
   */
  settings: z.array(settingsSchema).min(1),
  /** Absent until the project is stored. */
  project_id: z.int().optional(),
});

export type SampleSettings = z.infer<typeof settingsSchema>;
type SamplesFile = z.infer<typeof fileSchema>;

function samplesFile(dataDir: string): string {
  return path.join(dataDir, 'samples.json');
}

/** Returns undefined if no start has begun to make the samples. Throws StartError when the file is unusable. */
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

/** Forgets the project of an earlier local user. Another user has no samples yet. */
export function forgetSamplesProject(dataDir: string): void {
  const file = readSamplesFile(dataDir);
  if (file?.project_id !== undefined) writeSamplesFile(dataDir, { settings: file.settings });
}

/** Listens where the last start of this data directory did, because the drawings name that address; else on a free port. */
export async function startSampleTargets(dataDir: string): Promise<HttpServer> {
  const last = readSamplesFile(dataDir)?.settings.at(-1);
  if (last === undefined) return startSandboxTargets();
  // Another process, such as the stack of a copied directory, has the port: `ensureSamples` moves the drawings.
  return startSandboxTargets(Number(new URL(last.base_url).port)).catch(() => startSandboxTargets());
}
