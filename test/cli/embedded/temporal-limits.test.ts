// The limits on the search for the Temporal program, at a download server that misbehaves and beside another process.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identifyProcess } from '../../../cli/embedded/process-identity.js';
import { findTemporalBinary, TEMPORAL_CLI_VERSION, WAYS } from '../../../cli/embedded/temporal-binary.js';
import { DOWNLOAD_LIMITS, downloadTemporal } from '../../../cli/embedded/temporal-download.js';
import { startRawServer, type RawServer } from '../../support/raw-server.js';

/** Longer than the tests last, so that only the other limits are reached. */
const LONG_MS = 600_000;
const ROOMY = { ...DOWNLOAD_LIMITS, infoMs: LONG_MS, stalledMs: LONG_MS };
const INFO = JSON.stringify({ archiveUrl: 'https://temporal.download/assets/x.tar.gz', fileToExtract: 'temporal' });
const asJson = `HTTP/1.1 200 OK\r\nContent-Length: ${INFO.length}\r\n\r\n${INFO}`;

describe('the search for the Temporal program', function () {
  this.timeout(120_000);
  let folder: string;
  let server: RawServer;
  let answers: { info: (socket: Socket) => void; archive: (socket: Socket) => void };
  let hungUp: number;
  let lines: string[];
  const realFetch = globalThis.fetch;

  before(async () => {
    server = await startRawServer((socket, request) => {
      socket.once('close', () => (hungUp += 1));
      (request.includes('/assets/') ? answers.archive : answers.info)(socket);
    });
  });
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'temporal-limits-'));
    hungUp = 0;
    lines = [];
    answers = { info: (socket) => void socket.write(asJson), archive: () => undefined };
    globalThis.fetch = (address, init) => {
      const { pathname } = new URL(address);
      return realFetch(`${server.url}${pathname}`, { ...init, headers: { connection: 'close' } });
    };
  });
  afterEach(() => {
    globalThis.fetch = realFetch;
    rmSync(folder, { recursive: true, force: true });
  });
  after(() => server.close());

  function download(limits: typeof DOWNLOAD_LIMITS): Promise<void> {
    const options = { report: (line: string) => void lines.push(line), signal: AbortSignal.timeout(LONG_MS) };
    return downloadTemporal(TEMPORAL_CLI_VERSION, path.join(folder, 'temporal'), options, limits);
  }

  /** Writes as fast as the client reads, until the socket is closed. */
  function flood(socket: Socket): void {
    const write = (): void => {
      while (!socket.destroyed && socket.write('x'.repeat(16_384)));
    };
    socket.on('drain', write);
    write();
  }

  it('has six seconds and 64 KiB for the document that names the archive', async () => {
    assert.deepEqual([DOWNLOAD_LIMITS.infoMs, DOWNLOAD_LIMITS.infoBytes], [6_000, 64 * 1024]);
    for (const begin of ['', 'HTTP/1.1 200 OK\r\n\r\n{']) {
      answers.info = (socket) => void socket.write(begin);
      await assert.rejects(download({ ...ROOMY, infoMs: 200 }), { name: 'TimeoutError' });
    }
    answers.info = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      flood(socket);
    };
    await assert.rejects(download(ROOMY), /larger than 65536 bytes/);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('gives up an archive if nothing comes for twenty seconds, before its headers or after them', async () => {
    assert.equal(DOWNLOAD_LIMITS.stalledMs, 20_000);
    for (const begin of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf']) {
      answers.archive = (socket) => void socket.write(begin);
      await assert.rejects(download({ ...ROOMY, stalledMs: 500 }), /stalled: nothing has come for 0\.5 s/);
    }
  });

  it('gives up an archive of more than 300 MiB, announced or not, and reports its progress meanwhile', async () => {
    assert.equal(DOWNLOAD_LIMITS.archiveBytes, 300 * 1024 * 1024);
    const limits = { ...ROOMY, archiveBytes: 1_000_000 };
    answers.archive = (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000001\r\n\r\nx');
    await assert.rejects(download(limits), /larger than 1000000 bytes/);
    assert.deepEqual(lines, []);
    answers.archive = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      flood(socket);
    };
    await assert.rejects(download(limits), /larger than 1000000 bytes/);
    assert.match(lines[0]!, /^Temporal server: downloading, \d MiB$/);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('ends where another process fetches the program for longer than all ways may take', async () => {
    const bin = path.join(folder, 'workflow-automation', 'bin');
    const lockFile = path.join(bin, 'temporal.lock');
    mkdirSync(bin, { recursive: true });
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      writeFileSync(lockFile, JSON.stringify(identifyProcess(other.pid!)));
      const env = { PATH: '', XDG_CACHE_HOME: folder };
      const options = { configured: undefined, env, report: (line: string) => void lines.push(line) };
      const search = findTemporalBinary({ ...options, signal: AbortSignal.timeout(LONG_MS), waitMs: 100 });
      await assert.rejects(search, {
        name: 'StartError',
        message: `Process ${other.pid} is still fetching the Temporal server after 0.1 s (its lock is ${lockFile}): stop it and start again, or put the Temporal CLI on PATH or name it in TEMPORAL_CLI.`,
      });
      assert.deepEqual(lines, [`Temporal server: waiting for process ${other.pid}, which is fetching it`]);
      assert.equal(
        WAYS.reduce((sumMs, { limitMs }) => sumMs + limitMs, 0),
        2_400_000,
      );
      const stop = new AbortController();
      const stopped = findTemporalBinary({ ...options, signal: stop.signal });
      stop.abort();
      await assert.rejects(stopped, { name: 'AbortError' });
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
  });
});
