import assert from 'node:assert/strict';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { exampleOf } from '../../../console/pages/workflow/test-run/pin-example.js';

describe('the example of a pin', () => {
  it('has the required fields of what a node gives, each of its type', () => {
    const schemaOf = (type: string) => describeNodes().find((kind) => kind.type === type)!.output_schema;
    assert.deepEqual(exampleOf(schemaOf('http-node')), { content: '', status_code: 0, headers: {} });
    assert.deepEqual(exampleOf(schemaOf('code-node')), { content: '', value: null, logs: [''] });
    const task = exampleOf(schemaOf('human-node'));
    assert.deepEqual(task, { content: '', action: '', values: {}, comment: '', answered_by: [0] });
    for (const kind of describeNodes()) assert.equal(typeof exampleOf(kind.output_schema)['content'], 'string');
    assert.deepEqual(exampleOf(undefined), { content: '' });
  });

  it('takes constants, defaults, examples and choices, and ends in a schema that contains itself', () => {
    const schema: Record<string, unknown> = {
      type: 'object',
      required: ['kind', 'size', 'mode', 'next'],
      properties: { kind: { const: 'a' }, size: { default: 3 }, mode: { enum: ['x', 'y'] }, other: { type: 'string' } },
    };
    (schema['properties'] as Record<string, unknown>)['next'] = { anyOf: [{ type: 'null' }, schema] };
    const example = exampleOf(schema);
    assert.deepEqual([example['kind'], example['size'], example['mode']], ['a', 3, 'x']);
    assert.equal(Object.hasOwn(example, 'other'), false);
  });
});
