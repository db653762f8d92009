// A process of its own for resolve-actions.test.ts: the peak of the memory of a process never falls, so the peak of the
// process of the tests says nothing of one call.
import { resolveActions } from '../../../api/services/resolve-actions.js';
import { earlierOf, NO_DATABASE, nodesOf, toolsOf } from './many-actions.js';

const before = process.resourceUsage().maxRSS;
const codes: unknown[] = [];
for (const drawing of [nodesOf(10_000), toolsOf(10_000)]) {
  // The resolved drawing would have 240 MB in the first case, and more than a string can hold in the second.
  for (const characters of [24_000, 60_000]) {
    codes.push(
      await resolveActions(NO_DATABASE, 1, drawing, [earlierOf(characters)]).then(
        () => undefined,
        (error: unknown) => (error as { code?: unknown }).code,
      ),
    );
  }
}
process.stdout.write(JSON.stringify({ codes, grownBytes: (process.resourceUsage().maxRSS - before) * 1024 }));
