// Restarts of PostgreSQL on the data directory of a server that was killed.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ChildSupervisor } from '../../../cli/embedded/child-process.js';
import { claimPort } from '../../../cli/embedded/ports.js';
import { createPostgresServer } from '../../../cli/embedded/postgres-server.js';
import { childrenOf, readStat } from '../../../harness/processes/family.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { makeDataDir } from '../../../harness/stack/supervisor.js';

describe('the embedded PostgreSQL after a kill -9', function () {
  this.timeout(120_000);
  let dataDir: string;
  let postgres: ReturnType<typeof createPostgresServer>;
  let server: ReturnType<typeof postgres.on>;
  let parent: ChildProcess;

  before(async function () {
    // The tests inspect processes, which only Linux makes possible.
    if (process.platform !== 'linux') this.skip();
    dataDir = makeDataDir();
    const port = await claimPort({ port: 0, host: '127.0.0.1', variable: 'POSTGRES_PORT' });
    postgres = createPostgresServer({ dataDir, password: 'a password', env: process.env });
    server = postgres.on(port);
  });
  afterEach(async () => {
    const ended = once(parent, 'exit');
    parent.kill('SIGKILL');
    await ended;
  });
  after(() => {
    if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true });
  });

  const pidFile = (): string => readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8');

  /** Starts a server whose parent never reaps it: once killed, it is a zombie. */
  async function startUnreaped(): Promise<number> {
    await postgres.prepare();
    const { file, args, env, uid, gid } = server.command;
    const script = '"$@" & exec sleep 600';
    parent = spawn('/bin/sh', ['-c', script, 'sh', file, ...args], {
      env,
      stdio: 'ignore',
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
    await eventually(() => server.isReady(), { timeoutMs: 60_000 });
    return Number(pidFile().split('\n')[0]);
  }

  async function startsAgain(): Promise<void> {
    const child = new ChildSupervisor({
      name: 'postgres',
      command: server.command,
      logFile: path.join(dataDir, 'postgres.log'),
      beforeStart: postgres.prepare,
      isReady: server.isReady,
      readyTimeoutMs: 60_000,
      stopSignal: 'SIGINT',
      stopTimeoutMs: 15_000,
      onSpawn: () => undefined,
      onRestart: () => undefined,
    });
    await child.start();
    await child.stop();
  }

  it('starts again while the killed process is still in the table of processes', async () => {
    const pid = await startUnreaped();
    process.kill(pid, 'SIGKILL');
    await eventually(() => stateOf(pid) === 'Z');
    await startsAgain();
    assert.equal(stateOf(pid), 'Z');
  });

  it('starts again while processes of the killed one still use its memory', async () => {
    const pid = await startUnreaped();
    const [survivor] = childrenOf(pid).map((child) => child.pid);
    process.kill(survivor!, 'SIGSTOP');
    // The process stops when it is next scheduled. Only a stopped process outlives its parent.
    await eventually(() => stateOf(survivor!) === 'T');
    process.kill(pid, 'SIGKILL');
    await eventually(() => stateOf(pid) === 'Z');
    assert.equal(stateOf(survivor!), 'T');
    await startsAgain();
    assert.notEqual(stateOf(survivor!), 'T');
  });
});

/** Returns undefined for a process that does not exist. */
function stateOf(pid: number): string | undefined {
  return readStat(pid)?.state;
}
