import assert from 'node:assert/strict';
import type { ActionFacts } from '../../../graph/actions/action.js';
import {
  actionsIn,
  actionsToFind,
  holdsActions,
  serviceIdsOf,
  withActions,
} from '../../../graph/actions/stored-actions.js';
import type { JsonObject } from '../../../graph/json.js';
import { joinSecrets, splitSecrets } from '../../../graph/secrets.js';
import { assertCostRatio, cpuMilliseconds } from '../../support/cpu-time.js';

const facts = (server: string): ActionFacts => ({
  title: 'T',
  method: 'GET',
  server,
  path: '/',
  has_side_effects: false,
  fields: { type: 'object', properties: { a: { 'x-in': 'query' }, api_key: { 'x-in': 'query' } }, required: [] },
});
const [NOW, THEN] = ['https://now.example.com', 'https://then.example.com'];
const find = (): ActionFacts => facts(NOW);

const drawingOf = (...nodes: JsonObject[]): JsonObject => ({ nodes });
const http = (action: unknown, values: JsonObject = {}, id = 'n'): JsonObject => ({
  id,
  type: 'http-node',
  data: { action, values },
});
const agent = (...tools: JsonObject[]): JsonObject => ({ id: 'g', type: 'agent-node', data: { tools } });
const named = { service: 's', id: 'a' };
const serversOf = (drawing: JsonObject) => actionsIn(drawing).map(({ facts: found }) => found?.server);

describe('actions in drawings', () => {
  it('are filled in by the service, whatever a body says of them', () => {
    const forged = drawingOf(
      http({ ...named, ...facts('https://evil.example.com') }),
      agent({ type: 'action', ...named, action: facts('https://evil.example.com') }),
    );
    assert.deepEqual(serversOf(withActions(forged, [], find)), [NOW, NOW]);
    const unknown = withActions(forged, [], () => undefined);
    assert.deepEqual(serversOf(unknown), [undefined, undefined]);
    assert.deepEqual(unknown['nodes'], [http(named), agent({ type: 'action', ...named })]);
  });

  it('that are gone keep what is stored, of their own node first, whatever their values are', () => {
    const gone = () => undefined;
    const earlier = drawingOf(http({ ...named, ...facts(NOW) }, {}, 'other'), http({ ...named, ...facts(THEN) }));
    const changed = drawingOf(http(named, { a: 'filled in' }), http(named, {}, 'renamed'));
    assert.deepEqual(serversOf(withActions(changed, [earlier], gone)), [THEN, NOW]);
    const refreshed = drawingOf(http({ ...named, refresh: true }));
    assert.deepEqual(serversOf(withActions(refreshed, [earlier], gone)), [THEN]);
  });

  it('keep what the first earlier drawing has, while action and values are the same', () => {
    const earlier = drawingOf(
      http({ ...named, ...facts(THEN) }, { a: 1 }),
      agent({ type: 'action', ...named, values: { a: 1 }, action: facts(THEN) }),
    );
    const same = drawingOf(
      http(named, { a: 1 }),
      agent({ type: 'mcp' }, { type: 'action', ...named, values: { a: 1 } }),
    );
    assert.deepEqual(serversOf(withActions(same, [{ nodes: [] }, earlier], find)), [THEN, THEN]);
    assert.deepEqual(actionsToFind(same, [earlier]), []);
    const other = drawingOf(http(named, { a: 2 }), agent({ type: 'action', ...named, values: {} }));
    assert.deepEqual(serversOf(withActions(other, [earlier], find)), [NOW, NOW]);
    const refreshed = drawingOf(
      http({ ...named, refresh: true }, { a: 1 }),
      agent({ type: 'action', ...named, refresh: true, values: { a: 1 } }),
    );
    const taken = withActions(refreshed, [earlier], find);
    assert.deepEqual(serversOf(taken), [NOW, NOW]);
    assert.ok(!JSON.stringify(taken).includes('refresh'));
    assert.deepEqual(serversOf(withActions(drawingOf(http(named, { a: 1 }, 'copy')), [earlier], find)), [NOW]);
    // A node of another type has no action, even if its data looks like one.
    const hidden = drawingOf({ ...http({ ...named, ...facts(THEN) }, { a: 1 }), type: 'set-node' });
    assert.deepEqual(serversOf(withActions(drawingOf(http(named, { a: 1 })), [hidden], find)), [NOW]);
  });

  describe('that a caller has made many of', () => {
    const gone = () => undefined;
    const many = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, i) => make(i));
    const shapes: Record<string, (count: number) => [body: JsonObject, earlier: JsonObject]> = {
      'nodes whose actions are nowhere': (count) => [
        drawingOf(...many(count, (at) => http({ service: 's', id: `gone${at}` }, {}, `n${at}`))),
        drawingOf(...many(count, (at) => http({ service: 's', id: `a${at}`, ...facts(THEN) }, {}, `n${at}`))),
      ],
      'tools of one agent': (count) => {
        const tools = many(4 * count, (at) => ({ type: 'action', service: 's', id: `a${at}` }));
        const filled = tools.map((tool) => ({ ...tool, action: facts(THEN) }));
        return [drawingOf(agent(...tools)), drawingOf(agent(...filled.toReversed()))];
      },
      'nodes of one id, whose stored values have many keys': (count) => [
        drawingOf(...many(count, () => http(named))),
        drawingOf(http({ ...named, ...facts(THEN) }, Object.fromEntries(many(count, (at) => [`k${at}`, 1])))),
      ],
    };

    for (const [title, shape] of Object.entries(shapes)) {
      it(`take time in proportion to their number: ${title}`, async () => {
        const costOf = (count: number): number => {
          const [body, earlier] = shape(count);
          return cpuMilliseconds(() => {
            actionsToFind(body, [earlier]);
            withActions(body, [earlier], gone);
          });
        };
        // Four times the items take four times the time. A quadratic algorithm would take sixteen times.
        await assertCostRatio(costOf, { small: 2_500, large: 10_000, limit: 9 });
      });
    }
  });

  it('are found in text, and drawings without any stay as they are', () => {
    const drawing = drawingOf(
      http(named),
      agent({ type: 'action', service: 't', id: 'b' }),
      http({ service: 1 }),
      http('text'),
    );
    assert.deepEqual(serviceIdsOf(JSON.stringify(drawing)), ['s', 't']);
    assert.deepEqual(
      [holdsActions(drawing), holdsActions(drawingOf({ type: 'http-node', data: {} })), holdsActions({ nodes: 7 })],
      [true, false, false],
    );
  });

  it('have secrets in the values of credential fields, which go to no other service', () => {
    const drawing = drawingOf(
      http({ ...named, ...facts(NOW) }, { a: 'x', api_key: 'k-1' }),
      agent({ type: 'action', ...named, action: facts(NOW), values: { api_key: ['k-2', '{{ a.b }}'] } }),
    );
    const { masked, secrets } = splitSecrets(drawing);
    assert.ok(!JSON.stringify(masked).includes('k-'));
    assert.equal(Object.keys(secrets).length, 2);
    assert.deepEqual(joinSecrets(masked, secrets), drawing);
    const stored = { data: masked, secrets };
    assert.deepEqual(splitSecrets(masked, stored).secrets, secrets);
    const moved = JSON.parse(JSON.stringify(masked).replaceAll(NOW, THEN)) as JsonObject;
    assert.deepEqual(
      Object.keys(splitSecrets(moved, stored).secrets).filter((name) => !name.startsWith('lost:')),
      [],
    );
    const variables = drawingOf(http({ ...named, ...facts(NOW) }, { api_key: 'Bearer {{ a.result.content }}' }));
    assert.deepEqual(splitSecrets(variables).secrets, {});
  });
});
