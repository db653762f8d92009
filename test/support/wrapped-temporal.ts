// The Temporal server with other settings than in the embedded stack: a stack uses it like any other binary.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findTemporalBinary } from '../../cli/embedded/temporal-binary.js';

export interface WrappedTemporal {
  /** The path for TEMPORAL_CLI. */
  file: string;
  /** The program that it wraps. */
  binary: string;
  remove: () => void;
}

/** `settings`: the server's dynamic configuration. */
export async function wrapTemporal(settings: Record<string, unknown>): Promise<WrappedTemporal> {
  const { signal } = new AbortController();
  const configured = process.env['TEMPORAL_CLI'];
  const binary = await findTemporalBinary({ configured, env: process.env, report: () => undefined, signal });
  const directory = mkdtempSync(path.join(tmpdir(), 'wrapped-temporal-'));
  const file = path.join(directory, 'temporal');
  const options = Object.entries(settings).map(
    ([key, value]) => `--dynamic-config-value '${key}=${JSON.stringify(value)}'`,
  );
  writeFileSync(
    file,
    `#!/bin/sh\nif [ "$1" = server ]; then exec '${binary}' "$@" ${options.join(' ')}; fi\nexec '${binary}' "$@"\n`,
  );
  chmodSync(file, 0o755);
  return { file, binary, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
