import assert from 'node:assert/strict';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { connectionErrors } from '../../acceptance/prepare-run.js';
import { resolveRunFiles } from '../../acceptance/run-files.js';
import { toRefusedInput } from '../../api/runs/refused-input.js';
import type { Envelope } from '../../api/envelope/run-envelope.js';
import type { Tables } from '../../db/core/tables.js';
import { placeNodes } from '../../graph/building/place-nodes.js';
import { readFixedOutcome } from '../../graph/fixed-outcome.js';
import { lostSecretErrors } from '../../graph/lost-secrets.js';
import { findCredentialMoves } from '../../graph/moved-credentials.js';
import { pushTo } from '../../graph/push-to.js';
import { assertCostRatio, cpuMillisecondsUntil } from '../support/cpu-time.js';

/** Returns no rows for every query. */
const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (of) => new PostgresIntrospector(of),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** A new node to which `count` nodes lead. */
function placingOf(count: number): Parameters<typeof placeNodes>[0] {
  const ids = ['new', ...many(count, (at) => `n${at}`)];
  const nodes = new Map(ids.map((id) => [id, { id, type: 'set-node', data: {} }]));
  const links = many(count, (at) => ({ from: `n${at}`, to: 'new', isIntoBody: false }));
  return { nodes, start: undefined, links, notes: [] };
}

describe('lists by key', () => {
  it('have the items in the order in which they came', () => {
    const lists = new Map<string, number[]>();
    pushTo(lists, 'a', 1);
    pushTo(lists, '__proto__', 2);
    pushTo(lists, 'a', 3);
    assert.deepEqual([...lists.values()], [[1, 3], [2]]);
  });

  /** Each returns work on `count` items of one key or list. The work returns `count`, by its result. */
  const works: Record<string, (count: number) => () => Promise<number> | number> = {
    'tools of one agent with connections that nobody has': (count) => {
      const tools = many(count, (at) => ({ type: 'mcp', connection: at + 1 }));
      const nodes = [{ id: 'a', type: 'agent-node', data: { tools } }];
      return async () => (await connectionErrors(db, 1, { nodes }))['a']!.length;
    },
    'files of one node that nobody has': (count) => {
      const drawn = many(count, (at) => ({ nodeId: 'a', path: `files.${at}`, id: `f${at}` }));
      const request = { projectId: 1, fields: [], input: {}, drawn };
      return async () => (await resolveRunFiles(db, request)).nodeErrors['a']!.length;
    },
    'required fields of one id': (count) => {
      const result = many(count, () => ({ x: 'Field required' }));
      const drawing = { nodes: [{ id: 't', type: 'trigger-node', data: { input_fields: [{ id: 'x' }] } }] };
      const envelope = { data: { data: { t: { result } } } } as unknown as Envelope;
      return () => toRefusedInput(envelope, drawing).errors!['x']!.length;
    },
    'lost secrets of one node': (count) => {
      const lost = many(count, (at) => ({ kind: 'header' as const, nodeId: 'a', where: `h${at}`, isLiteral: false }));
      return () => lostSecretErrors(lost, { nodeIds: ['a'], startNode: 't', input: {} })['a']!.length;
    },
    'credentials of one node': (count) => {
      const headers = Object.fromEntries(many(count, (at) => [`x-api-key-${at}`, `secret ${at}`]));
      const nodes = [{ id: 'a', type: 'http-node', data: { url: 'https://a.example.com/', headers } }];
      return () => findCredentialMoves({ nodes }).left.length;
    },
    'nodes that lead to a new one': (count) => {
      const placing = placingOf(count);
      return () => (placeNodes(placing, new Set(['new'])).has('new') ? count : 0);
    },
    'cases that a mock takes': (count) => {
      const cases = many(count, (at) => ({ id: `c${at}` }));
      const mock = { content: 'c0', cases: cases.map(({ id }) => id) };
      return () => (readFixedOutcome('switch', { cases }, mock) as { handles: unknown[] }).handles.length;
    },
  };
  for (const [what, workOn] of Object.entries(works)) {
    it(`take time in proportion to their length: ${what}`, async () => {
      const costOf = async (count: number): Promise<number> => {
        const work = workOn(count);
        let found: number | undefined;
        const costMs = await cpuMillisecondsUntil(async () => (found = await work()));
        assert.equal(found, count);
        return costMs;
      };
      // Four times the items take four times the time. Copying the list for each item would take sixteen times.
      await assertCostRatio(costOf, { small: 5_000, large: 20_000, limit: 9, leastMs: 25 });
    });
  }

  it('may have more nodes than a function call can have arguments', () => {
    assert.equal(placeNodes(placingOf(150_000), new Set(['new'])).size, 1);
  });
});
