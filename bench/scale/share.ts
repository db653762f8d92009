// Limits processes to a share of a processor.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeProcessorGroup } from '../../harness/processes/cgroups.js';
import { readText, withDescendants } from '../../harness/processes/family.js';
import { eventually } from '../../harness/timing/eventually.js';

export interface Share {
  /** Removes the limit. The processes continue without one. */
  end(): Promise<void>;
}

/** Returns false if this process may not create control groups, which needs Linux and root. */
export function canHold(): boolean {
  const group = makeProcessorGroup('probe', 1);
  group?.remove();
  return group !== undefined;
}

/** The process and its children together get at most `processors` of processor time a second. */
export function hold(name: string, pid: number, processors: number): Share {
  const group = makeProcessorGroup(name, processors);
  if (group === undefined) throw new Error('this process may not make control groups');
  for (const each of withDescendants(pid)) writeFileSync(group.procsFile, String(each));
  const folder = path.dirname(group.procsFile);
  const above = path.join(path.dirname(folder), path.basename(group.procsFile));
  return {
    async end() {
      await eventually(() => {
        // A process may end, or start another one, meanwhile.
        for (const each of readText(group.procsFile).split('\n').filter(Boolean)) writeFileSync(above, each);
        group.remove();
        return !existsSync(folder);
      });
    },
  };
}
