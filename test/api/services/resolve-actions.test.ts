import assert from 'node:assert/strict';
import { resolveActions } from '../../../api/services/resolve-actions.js';
import type { Db } from '../../../db/core/client.js';
import type { JsonObject } from '../../../graph/json.js';

const MEBIBYTE = 1024 * 1024;
/** No query is sent, because the services of these drawings are in no catalogue, and their ids are no UUIDs. */
const NO_DATABASE = undefined as unknown as Db;
const named = { service: 'gone', id: 'a' };
const fatFacts = (characters: number) => ({
  title: 'T',
  method: 'GET',
  server: 'https://fat.example.com',
  path: '/',
  has_side_effects: false,
  fields: { type: 'object', properties: {}, required: [], description: 'd'.repeat(characters) },
});
const earlierOf = (characters: number): JsonObject => ({
  nodes: [{ id: 'n', type: 'http-node', data: { action: { ...named, ...fatFacts(characters) } } }],
});
const nodesOf = (count: number): JsonObject => ({
  nodes: Array.from({ length: count }, (_, at) => ({ id: `n${at}`, type: 'http-node', data: { action: named } })),
});
const toolsOf = (count: number): JsonObject => ({
  nodes: [
    {
      id: 'g',
      type: 'agent-node',
      data: { tools: Array.from({ length: count }, () => ({ type: 'action', ...named })) },
    },
  ],
});
const resolve = (drawing: JsonObject, characters: number) =>
  resolveActions(NO_DATABASE, 1, drawing, [earlierOf(characters)]);
const tooLarge = { status: 413, code: 'too_large' };

describe('a drawing that names an action many times', () => {
  it('is a 413 beyond 8 MiB, and memory never holds a copy of the action for each node', async () => {
    const before = process.resourceUsage().maxRSS;
    for (const drawing of [nodesOf(10_000), toolsOf(10_000)]) {
      assert.ok(JSON.stringify(drawing).length < MEBIBYTE);
      // The resolved drawing would have 240 MB in the first case, and more than a string can hold in the second.
      await assert.rejects(resolve(drawing, 24_000), tooLarge);
      await assert.rejects(resolve(drawing, 60_000), tooLarge);
    }
    const grownBytes = (process.resourceUsage().maxRSS - before) * 1024;
    assert.ok(grownBytes < 100 * MEBIBYTE, `${grownBytes} bytes more`);
  });

  it('may have nearly 8 MiB', async () => {
    for (const make of [nodesOf, toolsOf]) {
      const resolved = await resolve(make(80), 100_000);
      assert.ok(JSON.stringify(resolved).length > 7.5 * MEBIBYTE);
      await assert.rejects(resolve(make(84), 100_000), tooLarge);
    }
  });
});
