// Translates No Operation and Respond to Webhook.
import { objectOf, textOf } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';

export function translateNoOp(at: NodeTranslation): TranslatedNode {
  const value = at.wholeJson;
  const id = at.add('set', { value });
  return oneWay(id, at.passedOn(id, value === null ? '' : 'content'));
}

export function translateResponse(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const kind = textOf(parameters['respondWith']) ?? 'firstIncomingItem';
  const values: Record<string, () => unknown> = {
    firstIncomingItem: () => at.value('={{ $json }}', 'respondWith'),
    allIncomingItems: () =>
      at.json.items === undefined
        ? at.wholeJson
        : at.value('={{ $input.all().map((item) => item.json) }}', 'respondWith'),
    text: () => at.text(parameters['responseBody'], 'responseBody'),
    json: () =>
      at.jsonText(parameters['responseBody'], 'responseBody') ?? at.text(parameters['responseBody'], 'responseBody'),
    noData: () => '',
  };
  if (!Object.hasOwn(values, kind)) throw new NotTranslatable(`an answer of the kind "${kind}" has no equivalent`);
  const options = Object.keys(objectOf(parameters['options']));
  if (options.length > 0)
    at.warn(`The status and the headers of the answer (${options.slice(0, 5).join(', ')}) were left out.`);
  const id = at.add('output', { value: values[kind]!() });
  // The text of an answer may be empty.
  const isOfItems = kind === 'firstIncomingItem' || kind === 'allIncomingItems';
  return oneWay(id, at.passedOn(id, isOfItems ? 'content' : ''));
}
