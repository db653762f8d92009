// A real S3 server on this machine: versitygw, which stores objects as files in a folder.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import getPort from 'get-port';
import { eventually } from '../../harness/timing/eventually.js';

const VERSION = 'v1.8.0';
const BIN = path.join(os.homedir(), '.cache/workflow-automation/bin', `versitygw-${VERSION}`);
const BUILD_MS = 300_000;

export interface S3Server {
  endpoint: string;
  bucket: string;
  /** The folder with the objects of the bucket. */
  folder: string;
  /** The environment of processes that use the server. */
  env: Record<string, string>;
  close: () => Promise<void>;
}

/** Builds the server when it is first needed, which takes a minute. */
export async function startS3Server(): Promise<S3Server> {
  if (!existsSync(BIN)) await build();
  const root = await mkdtemp(path.join(os.tmpdir(), 's3-'));
  const bucket = 'files';
  await mkdir(path.join(root, bucket));
  const port = await getPort({ host: '127.0.0.1' });
  const env = { AWS_ACCESS_KEY_ID: 'test-access', AWS_SECRET_ACCESS_KEY: 'test-secret' };
  const args = ['--port', `127.0.0.1:${port}`, '--access', 'test-access', '--secret', 'test-secret', 'posix', root];
  const server = spawn(BIN, args, { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  await eventually(() =>
    fetch(endpoint).then(
      () => true,
      () => false,
    ),
  );
  return {
    endpoint,
    bucket,
    folder: path.join(root, bucket),
    env,
    async close() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGKILL');
      await ended;
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function build(): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 's3-build-'));
  const env = { ...process.env, GOBIN: folder };
  await promisify(execFile)('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${VERSION}`], {
    env,
    timeout: BUILD_MS,
  });
  await mkdir(path.dirname(BIN), { recursive: true });
  await promisify(execFile)('mv', [path.join(folder, 'versitygw'), BIN]);
  await rm(folder, { recursive: true });
}
