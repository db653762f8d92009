import assert from 'node:assert/strict';
import type { NodeKind } from '../../graph/kinds.js';
import { withTitles } from '../../graph/nodes/field-titles.js';
import { toHttpMethod } from '../../graph/nodes/http.js';
import { describeNodes } from '../../graph/nodes/describe-nodes.js';
import { kindOfType, nodeDefinitions } from '../../graph/nodes/registry.js';

describe('node definitions', () => {
  it('carry the words that clients rely on, and by one pattern where these say nothing', () => {
    const given: Partial<Record<NodeKind, string>> = {
      trigger: 'trigger-node TriggerNode',
      condition: 'if-else-node ConditionNode',
      llm: 'basic-node LLMNodeInput',
      http: 'http-node HTTPNodeInput',
      agent: 'agent-node AgentNodeInput',
      mcp: 'mcp-node MCPNodeInput',
    };
    for (const { type, nodeType, kind } of Object.values(nodeDefinitions)) {
      const word = kind.split('_').map((part) => part.charAt(0).toUpperCase() + part.slice(1));
      const pattern = `${kind.replaceAll('_', '-')}-node ${word.join('')}NodeInput`;
      assert.equal(`${type} ${nodeType}`, given[kind] ?? pattern);
    }
    for (const [kind, definition] of Object.entries(nodeDefinitions)) {
      assert.equal(definition.kind, kind);
      assert.equal(kindOfType(definition.type), kind);
    }
    assert.equal(kindOfType('constructor'), undefined);
  });

  it('fill in defaults and keep unknown keys', () => {
    const http = nodeDefinitions.http.schema.parse({ url: 'u', color: 'red', settings: { x: 1 } });
    const settings = { timeout: 30, fail_on_status: true, response: 'text', retry_unsafe: false };
    assert.deepEqual(http, { url: 'u', color: 'red', method: 'GET', headers: {}, settings: { ...settings, x: 1 } });
    assert.deepEqual(nodeDefinitions.http.schema.parse({ url: 'u' }).settings, settings);
    const messages = [{ role: 'user', message: 'm' }];
    const llm = nodeDefinitions.llm.schema.parse({ messages, settings: { model_name: 'm', seed: 1 } });
    assert.deepEqual(llm.settings, { model_name: 'm', seed: 1, timeout: 300 });
    const mcp = nodeDefinitions.mcp.schema.parse({ endpoint_url: 'https://a.test/', tool_name: 't', x: 1 });
    assert.deepEqual(mcp, {
      endpoint_url: 'https://a.test/',
      transport: 'auto',
      headers: {},
      timeout: 10,
      tool_name: 't',
      arguments: {},
      settings: { timeout: 300, fail_on_error: true, retry_unsafe: false },
      x: 1,
    });
  });

  it('say what a code node may be', () => {
    const { schema } = nodeDefinitions.code;
    assert.deepEqual(schema.parse({ code: 'return 1' }), { code: 'return 1', inputs: {}, settings: { timeout: 5 } });
    for (const timeout of [0.1, 30]) assert.ok(schema.safeParse({ code: ' ', settings: { timeout } }).success);
    for (const wrong of [{}, { code: '' }, { code: 'x'.repeat(262_145) }, { code: 'x', inputs: [] }]) {
      assert.ok(!schema.safeParse(wrong).success);
    }
    for (const timeout of [0, 0.09, 30.1, '5'])
      assert.ok(!schema.safeParse({ code: 'x', settings: { timeout } }).success);
  });

  it('turn the sides of a condition to text', () => {
    const condition = { left: 1.5, operator: '==', right: true };
    const parsed = nodeDefinitions.condition.schema.parse({ condition });
    assert.deepEqual(parsed.condition, { left: '1.5', operator: '==', right: 'true' });
  });

  it('describe themselves as JSON Schema 2020-12 for get_nodes', () => {
    const descriptions = describeNodes();
    assert.deepEqual(Object.keys(descriptions[0] ?? {}), [
      'node_type',
      'type',
      'title',
      'description',
      'category',
      'version',
      'handles',
      'schema',
      'output_schema',
    ]);
    for (const { schema, output_schema } of descriptions) {
      for (const each of [schema, output_schema] as Record<string, unknown>[]) {
        assert.equal(each['$schema'], 'https://json-schema.org/draft/2020-12/schema');
        assert.equal(each['type'], 'object');
        assert.ok(JSON.stringify(each['additionalProperties']) === '{}', 'unknown keys are allowed');
      }
      assert.ok(JSON.stringify(output_schema).includes('"required":["content"'));
    }
  });
});

describe('the fields of get_nodes', () => {
  /** Name -> schema of every property at any depth, such as `settings.timeout`. */
  function propertiesOf(schema: unknown, path = ''): [name: string, schema: Record<string, unknown>][] {
    if (typeof schema !== 'object' || schema === null) return [];
    return Object.entries(schema).flatMap(([key, value]) => {
      if (key !== 'properties') return propertiesOf(value, path);
      return Object.entries(value as Record<string, Record<string, unknown>>).flatMap(([name, property]) => {
        const own = path === '' ? name : `${path}.${name}`;
        return [[own, property] as [string, Record<string, unknown>], ...propertiesOf(property, own)];
      });
    });
  }

  it('each have a title for people, at whatever depth', () => {
    for (const { type, schema, output_schema: output } of describeNodes()) {
      const properties = [...propertiesOf(schema), ...propertiesOf(output)];
      assert.ok(properties.length > 1, type);
      for (const [name, { title }] of properties) {
        assert.match(String(title), /^[A-Z][\w ]+$/, `${type} ${name}`);
        assert.ok(!String(title).includes('_'), `${type} ${name}`);
      }
    }
  });

  it('keep a title of their own, and a field with the name of a keyword is a field', () => {
    const field = { type: 'string' };
    const given = { properties: { endpoint_url: field, properties: field, own: { ...field, title: 'Mine' } } };
    assert.deepEqual(withTitles({ items: given }), {
      items: {
        properties: {
          endpoint_url: { title: 'Endpoint URL', ...field },
          properties: { title: 'Properties', ...field },
          own: { ...field, title: 'Mine' },
        },
      },
    });
  });
});

describe('get_nodes', () => {
  it('says by which handles a node is left, and which field of its data holds the target', () => {
    const handles = Object.fromEntries(describeNodes().map((node) => [node.type, node.handles]));
    assert.deepEqual(handles['http-node'], []);
    assert.deepEqual(handles['if-else-node'], [
      { id: 'condition-true', label: 'True', field: 'true_node' },
      { id: 'condition-false', label: 'False', field: 'false_node' },
    ]);
  });

  it('says which handle leads to the body of a loop, and what can be read there', () => {
    const bodies = describeNodes().flatMap(({ type, handles, body_variables: variables }) =>
      handles.filter(({ body }) => body === true).map(({ id, field }) => [type, id, field, variables]),
    );
    assert.deepEqual(bodies, [
      ['for-each-node', 'body', 'body_node', ['item', 'index']],
      ['loop-node', 'body', 'body_node', ['index', 'last']],
    ]);
  });
});

describe('toHttpMethod', () => {
  it('takes any case and nothing else', () => {
    assert.equal(toHttpMethod(' patch '), 'PATCH');
    assert.equal(toHttpMethod('GET'), 'GET');
    for (const word of ['', 'TRACE', 'GET /', '{{ input.m }}']) assert.equal(toHttpMethod(word), undefined);
  });
});
