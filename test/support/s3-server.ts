// A real S3 server on this machine: versitygw, which stores objects as files in a folder.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../harness/processes/free-port.js';
import type { Command } from '../../cli/embedded/child-process.js';
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

export const isS3Built = (): boolean => existsSync(BIN);

/** Builds the server when it is first needed, which takes a minute. */
export async function buildS3(): Promise<void> {
  if (!isS3Built()) await build();
}

/** The command of a server that stores its bucket `files` below `root`, which must have a folder for it. */
export function s3Command(root: string, address: string): Command & { env: Record<string, string> } {
  const [access, secret] = ['test-access', 'test-secret'];
  return {
    file: BIN,
    args: ['--port', address, '--access', access, '--secret', secret, 'posix', root],
    env: { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret },
  };
}

export async function startS3Server(): Promise<S3Server> {
  await buildS3();
  const root = await mkdtemp(path.join(os.tmpdir(), 's3-'));
  const bucket = 'files';
  await mkdir(path.join(root, bucket));
  const address = `127.0.0.1:${await freePort()}`;
  const { file, args, env } = s3Command(root, address);
  const server = spawn(file, args, { stdio: 'ignore' });
  const endpoint = `http://${address}`;
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
