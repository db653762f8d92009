// `breakdown.ts --profile` loads this file into the processes of a stack (NODE_OPTIONS=--import). Each thread takes
// samples while the folder PROFILE_DIR contains a file named `on`, then writes a profile for Chrome's developer tools.
import { existsSync, writeFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

const LOOK_EVERY_MS = 100;
const SAMPLE_EVERY_US = 500;

const folder = process.env['PROFILE_DIR'];
if (folder !== undefined) watch(folder);

function watch(directory: string): void {
  let session: Session | undefined;
  const look = (): void => {
    const isWanted = existsSync(path.join(directory, 'on'));
    if (isWanted && session === undefined) session = start();
    if (isWanted || session === undefined) return;
    stop(session, path.join(directory, `${programName()}-${process.pid}-thread-${threadId}.cpuprofile`));
    session = undefined;
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}

function start(): Session {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  session.post('Profiler.start');
  return session;
}

function stop(session: Session, file: string): void {
  session.post('Profiler.stop', (error: Error | null, result: Profiler.StopReturnType) => {
    if (error === null) writeFileSync(file, JSON.stringify(result.profile));
    session.disconnect();
  });
}

/** Returns the folder of the program, for example `api` for `dist/api/main.js`. */
function programName(): string {
  const [, entry = 'node'] = process.argv;
  return path.basename(path.dirname(entry));
}
