// Drawings that name an action of no service many times, and the facts that an earlier drawing has stored for it.
import type { Db } from '../../../db/core/client.js';
import type { JsonObject } from '../../../graph/json.js';

/** No query is sent, because the services of these drawings are in no catalogue, and their ids are no UUIDs. */
export const NO_DATABASE = undefined as unknown as Db;
const named = { service: 'gone', id: 'a' };
const fatFacts = (characters: number) => ({
  title: 'T',
  method: 'GET',
  server: 'https://fat.example.com',
  path: '/',
  has_side_effects: false,
  fields: { type: 'object', properties: {}, required: [], description: 'd'.repeat(characters) },
});
export const earlierOf = (characters: number): JsonObject => ({
  nodes: [{ id: 'n', type: 'http-node', data: { action: { ...named, ...fatFacts(characters) } } }],
});
export const nodesOf = (count: number): JsonObject => ({
  nodes: Array.from({ length: count }, (_, at) => ({ id: `n${at}`, type: 'http-node', data: { action: named } })),
});
export const toolsOf = (count: number): JsonObject => ({
  nodes: [
    {
      id: 'g',
      type: 'agent-node',
      data: { tools: Array.from({ length: count }, () => ({ type: 'action', ...named })) },
    },
  ],
});
