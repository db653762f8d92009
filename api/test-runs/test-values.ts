// Reads the values that are known before a test starts: its input, its fixed results, the results that it reuses, and
// the items or rounds of the loops around the tested node.
import { findNodeErrors, findOutputs, readOutput } from '../../db/nodes/node-results-repository.js';
import { openResult } from '../../db/nodes/open-result.js';
import { EVERYWHERE } from '../../db/test-runs/test-runs-repository.js';
import type { RunInput } from '../../graph/input.js';
import { iterationPath } from '../../graph/iteration-path.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { findVariables, type NodeOutput, type VariableValues } from '../../graph/template.js';
import type { LoopVariables, NodeErrorFacts } from '../../graph/variable.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { TestDeps } from './deps.js';
import { readLoopValues } from '../runs/loop-values.js';
import type { Source } from './find-sources.js';
import type { PlannedTest } from './plan-test.js';

/** Bytes of memory per byte of a result: its text, and its strings once they are parsed. */
const PARSED_FACTOR = 3;

interface ValuesToRead {
  planned: PlannedTest;
  input: RunInput;
  /** Any JSON; only the values that its variables name are read. */
  templates: unknown;
  memory: ByteLease;
}

type Deps = Pick<TestDeps, 'db' | 'secretBox'>;

export async function readTestValues(
  deps: Deps,
  { planned, input, templates, memory }: ValuesToRead,
): Promise<VariableValues> {
  const { plan, fixedResults, sources, loops, paths } = planned;
  const variables = findVariables(templates);
  const named = new Set(variables.flatMap((variable) => ('nodeId' in variable ? [variable.nodeId] : [])));
  const results = new Map<string, NodeOutput>();
  const errors = new Map<string, NodeErrorFacts>();
  for (const source of sources.filter(({ nodeId }) => named.has(nodeId))) {
    const { nodeId } = source;
    const output = await readSource(deps, source, memory);
    if (output !== undefined) results.set(nodeId, output);
    else
      for (const { code, message } of await findNodeErrors(deps.db, source, [nodeId]))
        errors.set(nodeId, { code, message });
  }
  // Results that are fixed for the tested iteration come last, so that they take precedence.
  const places = [EVERYWHERE, ...paths];
  const here = fixedResults
    .filter(({ path }) => places.includes(path))
    .toSorted((a, b) => order(places, a) - order(places, b));
  for (const { nodeId, outcome } of here) {
    if ('output' in outcome) results.set(nodeId, outcome.output);
    else errors.set(nodeId, outcome.error);
  }
  if (plan.kinds[0] === 'trigger') {
    results.set(plan.ids[0]!, { ...(Array.isArray(input) ? {} : input), content: writeJson(input) });
  }
  const around = new Map<string, LoopVariables>();
  for (const loop of loops.filter(({ nodeId }) => named.has(nodeId))) {
    const iteration = iterationPath(loop.path, loop.nodeId, loop.index);
    around.set(loop.nodeId, await readLoopValues(deps.db, deps.secretBox, loop, iteration));
  }
  return { input, results, errors, loops: around };
}

function order(places: readonly string[], { path }: { path: string }): number {
  return places.indexOf(path);
}

/** Returns the output of a node; undefined if the node failed, or its result has expired meanwhile. */
async function readSource(
  { db, secretBox }: Deps,
  { nodeId, ...place }: Source,
  memory: ByteLease,
): Promise<NodeOutput | undefined> {
  const [found] = await findOutputs(db, place, [nodeId]);
  if (found === undefined) return undefined;
  await memory.resize(memory.bytes + PARSED_FACTOR * found.sizeBytes);
  const stored = found.isLarge ? await readOutput(db, { ...place, nodeId }) : found;
  const text = stored === undefined ? null : openResult(stored, { ...place, nodeId }, secretBox);
  return text === null ? undefined : (parseJson(text) as NodeOutput);
}
