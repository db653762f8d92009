// The programs and rights that the rows of several hosts need.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isS3Built } from '../../test/support/s3-server.js';
import { isTemporalBuilt } from '../../harness/hosts/temporal-cluster.js';

export type Program = 'nft' | 'faketime' | 'an S3 server, which Go builds';

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** Returns the reason for which this machine cannot run the service on several hosts (bed.ts); undefined if it can. */
export function reasonToSkip(isDev: boolean): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux';
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const missing = ['unshare', 'ip', 'haproxy', 'setpriv'].filter((program) => !isThere(program));
  if (!isDev && !isTemporalBuilt() && !isThere('go'))
    missing.push("go, to build Temporal's server (see --dev-temporal)");
  return missing.length === 0 ? undefined : `this machine has no ${missing.join(', no ')}`;
}

/** Returns the programs that are missing. */
export function missingOf(needs: Program[]): Program[] {
  return needs.filter((program) => {
    if (program === 'nft') return !isThere('nft');
    return program === 'faketime' ? !existsSync(FAKETIME) : !isS3Built();
  });
}

/**
 * Returns the environment with which libfaketime shifts a process's wall clock by `hours`. The monotonic clock is not
 * shifted.
 */
export function clockEnvironment(hours: number): Record<string, string> {
  return {
    LD_PRELOAD: FAKETIME,
    FAKETIME: `${hours > 0 ? '+' : '-'}${Math.abs(hours)}h`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
}

export function isThere(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
