// Checks the workflow that an assistant has built: reads and tests it with the assistant's tools (`/mcp/build`).
import type { Builder } from './builder.js';
import type { Must } from './task.js';

interface ShownNode {
  id: string;
  kind: string;
  data: Record<string, unknown>;
  next: string[] | Record<string, string[]>;
}

interface Shown {
  draft: string | null;
  version: number;
  nodes: ShownNode[];
  next_after?: string;
}

interface Judged {
  /** The id of the workflow. Undefined if the project has none. */
  id: number | undefined;
  said: string;
}

/** Returns a sentence for each requirement that is not met. */
export async function judge(builder: Builder, must: Must, { id, said }: Judged): Promise<string[]> {
  const wrong: string[] = [];
  const expect = (holds: boolean, sentence: string): void => void (holds || wrong.push(sentence));
  if (must.says !== undefined) expect(new RegExp(must.says, 'i').test(said), `It does not say ${must.says}: ${said}`);
  if (must.nothing === true) {
    expect(id === undefined, 'A workflow was made.');
    return wrong;
  }
  if (id === undefined) return [...wrong, 'No workflow was made.'];
  const { nodes, draft, version } = await readAll(builder, id);
  const ofKind = (kind: string): ShownNode[] => nodes.filter((node) => node.kind === kind);
  for (const [kind, count] of Object.entries(must.kinds ?? {})) {
    expect(ofKind(kind).length >= count, `${ofKind(kind).length} of ${kind}, and not ${count}.`);
  }
  for (const kind of must.no_kinds ?? []) expect(ofKind(kind).length === 0, `There is a ${kind}.`);
  for (const [from, to] of must.links ?? []) expect(areLinked(nodes, from, to), `No ${from} leads to a ${to}.`);
  for (const kept of must.keeps ?? [])
    expect(
      nodes.some((node) => node.id === kept),
      `The node ${kept} is gone.`,
    );
  for (const { kind, matches } of must.data ?? []) {
    const found = ofKind(kind).some((node) => new RegExp(matches, 'i').test(JSON.stringify(node.data)));
    expect(found, `No ${kind} has ${matches}.`);
  }
  if (must.saved !== undefined) {
    expect((draft === null && version > 1) === must.saved, must.saved ? 'It was not saved.' : 'It was saved.');
  }
  if (must.test !== undefined) wrong.push(...(await testOf(builder, id, nodes, must.test)));
  return wrong;
}

async function readAll(builder: Builder, id: number): Promise<Shown> {
  const first = await builder.read<Shown>('get_workflow', { id });
  let after = first.next_after;
  while (after !== undefined) {
    const more: Shown = await builder.read<Shown>('get_workflow', { id, after });
    first.nodes.push(...more.nodes);
    after = more.next_after;
  }
  return first;
}

function areLinked(nodes: readonly ShownNode[], from: string, to: string): boolean {
  const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
  return nodes.some(({ kind, next }) => {
    const targets = Array.isArray(next) ? next : Object.values(next).flat();
    return kind === from && targets.some((target) => kinds.get(target) === to);
  });
}

interface ShownRun {
  status: string;
  nodes: { id: string; status: string; result?: unknown; error?: { code: string; message: string } }[];
}

async function testOf(
  builder: Builder,
  id: number,
  nodes: readonly ShownNode[],
  { input, mocks: byKind, status, output }: NonNullable<Must['test']>,
): Promise<string[]> {
  const mocks = Object.fromEntries(
    nodes.filter(({ kind }) => kind in byKind).map((node) => [node.id, byKind[node.kind]]),
  );
  const { text, isError } = await builder.use('test_workflow', { id, mode: 'from', input, mocks, max_cost: '0' });
  if (isError) return [`The test did not start: ${text}`];
  const run = JSON.parse(text) as ShownRun;
  const failed = run.nodes.flatMap(({ id: node, error }) => (error ? [`${node}: ${error.code} ${error.message}`] : []));
  if (run.status !== status) return [`The test ended as ${run.status}. ${failed.join(' ')}`];
  if (output === undefined) return [];
  const outputs = new Set(nodes.filter(({ kind }) => kind === 'output-node').map((node) => node.id));
  const texts = run.nodes
    .filter((node) => outputs.has(node.id) && node.status === 'succeed')
    .map(({ result }) => JSON.stringify(result));
  return texts.some((one) => new RegExp(output).test(one)) ? [] : [`The output is ${texts.join(', ')}, not ${output}.`];
}
