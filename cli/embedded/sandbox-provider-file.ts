// DATA_DIR/model-providers.json: the sandbox provider in the format of MODEL_PROVIDERS_FILE.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { SANDBOX_MODEL } from '../sandbox/model-provider.js';
import { writeFileAtomic } from './atomic-file.js';

/** Made-up prices, so that runs in the sandbox show a cost. */
const PRICES = { input_price_per_million: '0.15', output_price_per_million: '0.60' };

function sandboxProviderFile(dataDir: string): string {
  return path.join(dataDir, 'model-providers.json');
}

export function writeSandboxProviderFile(dataDir: string, url: string): string {
  const file = sandboxProviderFile(dataDir);
  const models = [{ id: SANDBOX_MODEL, ...PRICES, accepts: ['image', 'pdf'] }];
  const provider = { name: 'sandbox', base_url: `${url}/v1`, models };
  writeFileAtomic(file, `${JSON.stringify({ providers: [provider] }, null, 2)}\n`);
  return file;
}

export function removeSandboxProviderFile(dataDir: string): void {
  rmSync(sandboxProviderFile(dataDir), { force: true });
}
