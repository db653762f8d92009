import assert from 'node:assert/strict';
import { catalogue, findCatalogueAction, searchActions, searchCatalogue } from '../../../api/services/catalogue.js';
import { toFacts } from '../../../api/services/service-view.js';
import { connectionPresets } from '../../../api/connections/presets.js';
import { isWithin } from '../../../graph/origins.js';
import { fieldsOf, requiredOf, serverFor } from '../../../graph/actions/action.js';
import { valueErrors } from '../../../graph/actions/check-values.js';
import { renderAction } from '../../../graph/actions/render-request.js';
import type { JsonObject } from '../../../graph/json.js';

const all = catalogue.flatMap((service) => service.actions.map((action) => ({ service, action })));

/** A value of the type of a field. */
function sampleOf({ type, items }: JsonObject): unknown {
  if (type === 'integer' || type === 'number') return 7;
  if (type === 'boolean') return true;
  if (type === 'array') return [sampleOf((items ?? {}) as JsonObject)];
  return type === 'object' ? { key: 'value' } : 'a text';
}

function filledIn(address: string): string {
  return address.replaceAll(/\{[a-z_]+\}/g, 'example');
}

describe('the catalogue of services', () => {
  it('has at least 30 services and 150 actions, of which 60 have side effects', () => {
    assert.ok(catalogue.length >= 30, `${catalogue.length}`);
    assert.ok(all.length >= 150, `${all.length}`);
    assert.ok(all.filter(({ action }) => action.has_side_effects).length >= 60);
    assert.equal(new Set(catalogue.map(({ name }) => name)).size, catalogue.length);
  });

  it('has the ids, origins and kinds of connections of the presets', () => {
    const presets = new Map(connectionPresets.map((preset) => [preset.id, preset]));
    for (const { id, actions, connection_kinds: kinds } of catalogue) {
      const preset = presets.get(id);
      assert.ok(preset !== undefined, id);
      assert.ok((kinds as string[]).includes(preset.kind), `${id}: ${preset.kind}`);
      const origins = preset.origins.map(filledIn);
      for (const { server } of actions) {
        assert.ok(isWithin(origins, new URL(filledIn(server))), `${id}: ${server}`);
      }
      for (const origin of preset.origins)
        if (origin.includes('{')) assert.ok(serverFor({ server: origin }, origins) !== undefined);
    }
  });

  it('makes a request of each action, with each field in its place', () => {
    for (const { service, action } of all) {
      const name = `${service.id}/${action.id}`;
      const facts = toFacts(action);
      const values = Object.fromEntries(fieldsOf(facts).map(([key, field]) => [key, sampleOf(field)]));
      assert.deepEqual(valueErrors(facts, values), {}, name);
      const { url, method, body } = renderAction(facts, values, filledIn(action.server));
      assert.ok(!url.includes('{') && !url.includes('}'), `${name}: ${url}`);
      assert.equal(method, action.method);
      assert.equal(
        body !== undefined,
        fieldsOf(facts).some(([, field]) => field['x-in'] === 'body'),
        name,
      );
      const inPath = fieldsOf(facts).filter(([, field]) => field['x-in'] === 'path');
      assert.deepEqual(
        new Set(inPath.map(([key]) => key)),
        new Set([...action.path.matchAll(/\{([^{}]*)\}/g)].map(([, key]) => key!)),
        name,
      );
      for (const key of requiredOf(facts)) assert.ok(Object.hasOwn(values, key), `${name}: ${key}`);
      assert.ok(!action.has_side_effects || action.method !== 'GET', name);
    }
  });

  it('names an https page for each action and service, and when the service was checked', () => {
    for (const { service, action } of all)
      assert.equal(new URL(action.documentation_url).protocol, 'https:', service.id);
    for (const { source, checked } of catalogue) {
      assert.equal(new URL(source).protocol, 'https:');
      assert.ok(Date.parse(checked) > Date.parse('2026-01-01'));
    }
  });

  it('finds services by their actions, and actions by what people read', () => {
    assert.ok(searchCatalogue('SEND A message').some(({ id }) => id === 'telegram'));
    assert.ok(searchCatalogue('slack').some(({ id }) => id === 'slack'));
    assert.deepEqual(searchCatalogue('no such thing'), []);
    const slack = catalogue.find(({ id }) => id === 'slack')!;
    assert.deepEqual(searchActions(slack, 'emoji').length + searchActions(slack, 'reaction').length, 1);
    assert.equal(findCatalogueAction('slack', 'nothing'), undefined);
  });
});
