// Adds the HTTP node of an action and the nodes that turn its answer into items, with the warnings that belong to them.
import { wholePlace, type JsonPlace } from '../json-places.js';
import { addData, listPlace } from '../data-node.js';
import type { JsonObject } from '../../graph/json.js';
import { oneWay, type NodeTranslation, type TranslatedNode } from '../node-translation.js';
import type { Given } from './given.js';
import type { Operation, Service } from './operation.js';

const TIMEOUT_SECONDS = 300;

/** Adds the node and returns its id. A person chooses the connection, because files have no credentials. */
export function addAction(
  at: NodeTranslation,
  service: Service,
  id: string,
  values: JsonObject,
  { note, givesFile = false }: { note?: string; givesFile?: boolean } = {},
): string {
  const which = note === undefined ? '' : ` for "${at.node.label} (${note})", too`;
  at.warn(`Choose the connection to ${service.name}${which}: credentials are not taken over.`, at.node, {
    field: 'connection',
  });
  const { onError, continueOnFail } = at.node.settings;
  if (note !== undefined && ((onError ?? 'stopWorkflow') !== 'stopWorkflow' || continueOnFail === true))
    at.warn('The run goes on only after an error of the last of its requests.');
  return at.add(
    'http',
    {
      action: { service: service.id, id },
      values,
      settings: {
        timeout: TIMEOUT_SECONDS,
        ...(givesFile && { response: 'file' }),
        ...(at.node.settings['retryOnFail'] === true && { retry_unsafe: true }),
      },
    },
    note,
  );
}

export function translateOperation(given: Given, service: Service, operation: Operation): TranslatedNode {
  const { at } = given;
  const id = addAction(at, service, operation.action, operation.values(given));
  const { gives, items } = operation;
  const after = typeof operation.after === 'function' ? operation.after(given) : operation.after;
  const made = gives?.(given);
  warnOfDifferences(given, operation.differs?.(given) ?? []);
  if (made !== undefined) {
    const result = at.add('set', { value: made }, 'result');
    at.link({ id, handle: null }, result);
    return { ...oneWay(result, at.resultPlace(result)), entry: id, main: id };
  }
  if (after === undefined) return { ...oneWay(id, placeOf(at, id, items)), main: id };
  const result = addData(
    at,
    {
      parts: [after.part],
      returns: after.returns,
      failing: '[{ error: error.message }]',
      inputs: { json: `{{ ${id}.result.json }}`, ...after.inputs },
    },
    'items',
  );
  at.link({ id, handle: null }, result);
  return { ...oneWay(result, listPlace(at, result)), entry: id, main: id };
}

export function warnOfDifferences(given: Given, sentences: readonly (string | false | undefined)[]): void {
  for (const sentence of sentences) if (typeof sentence === 'string') given.at.warn(sentence);
  const unread = given.unread();
  if (unread.length > 0) given.at.warn(`These parameters have no equivalent and were left out: ${unread.join(', ')}.`);
}

function placeOf({ around: { order } }: NodeTranslation, id: string, items: string | undefined): JsonPlace {
  const json = items === undefined ? `${id}.result.json` : `${id}.result.json.${items}`;
  return { ...wholePlace(json, `${id}.result.status_code`, order), items: 'unknown' };
}
