// Finds the code of the run workflow that a replay executes. A replay runs in this process, so V8's coverage counters
// record it.
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** Runs `replay`. Returns the pieces of our code in the bundle that were never executed. */
export async function unexecutedCode(bundle: string, replay: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await replay();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const code = readFileSync(bundle, 'utf8');
    const sourceAt = createSourceLookup(code);
    const skipped = new Set<string>();
    for (const script of result.filter(({ url }) => url.endsWith('workflow-bundle.js'))) {
      for (const { count, startOffset, endOffset } of script.functions.flatMap(({ ranges }) => ranges)) {
        const piece = code.slice(startOffset, endOffset).replaceAll(/\s+/g, ' ').trim();
        const source = sourceAt(startOffset);
        // The wrappers that webpack adds around modules are not ours; braces and spaces are no code.
        const isOurs = source !== undefined && /\w/.test(piece) && !piece.includes('/* binding */');
        if (count === 0 && isOurs) skipped.add(`${source}: ${piece}`);
      }
    }
    return [...skipped];
  } finally {
    session.disconnect();
  }
}

/** Returns a function that finds the name of our file for an offset in the bundle. */
function createSourceLookup(code: string): (offset: number) => string | undefined {
  const inline = /sourceMappingURL=data:application\/json;[^,]*base64,([A-Za-z0-9+/=]+)/.exec(code)?.[1];
  if (inline === undefined) throw new Error('the bundle has no source map');
  const map = new SourceMap(JSON.parse(Buffer.from(inline, 'base64').toString()) as SourceMapPayload);
  const lineStarts = [0];
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  return (offset) => {
    const line = lineStarts.findLastIndex((start) => start <= offset);
    const entry = map.findEntry(line, offset - lineStarts[line]!);
    if (!('originalSource' in entry)) return undefined;
    return /(?:temporal-workflows|graph)\/((?:planner|stretch)\.ts|(?<=temporal-workflows\/)[a-z-]+\.ts)$/.exec(
      entry.originalSource,
    )?.[1];
  };
}
