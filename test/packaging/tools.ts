// Command-line tools that check the chart: built or downloaded once into the user's cache.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'workflow-automation/bin');
const BUILD_MS = 20 * 60_000;

/** Versions are those that `deploy/helm` was written for. */
const GO_TOOLS = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.19.0',
  'kube-score': 'github.com/zegl/kube-score/cmd/kube-score@v1.20.0',
};
const VALIDATOR = 'kubernetes-validate==1.37.0';

/** Returns the path of the tool, which Go builds at the first call; that takes minutes. */
export async function goTool(name: keyof typeof GO_TOOLS): Promise<string> {
  const binary = path.join(CACHE, name);
  if (existsSync(binary)) return binary;
  mkdirSync(CACHE, { recursive: true });
  await run('go', ['install', GO_TOOLS[name]], { env: { ...process.env, GOBIN: CACHE }, timeout: BUILD_MS });
  return binary;
}

/** Validates manifests against the schemas of a version of Kubernetes. Returns what is wrong; empty if nothing is. */
export async function validate(file: string, version: string): Promise<string> {
  const packages = path.join(CACHE, VALIDATOR);
  if (!existsSync(packages)) {
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', packages, VALIDATOR], { timeout: BUILD_MS });
  }
  const env = { ...process.env, PYTHONPATH: packages };
  const args = ['-m', 'kubernetes_validate', '--kubernetes-version', version, '--strict', '--quiet', file];
  return run('python3', args, { env }).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr || 'failed',
  );
}
