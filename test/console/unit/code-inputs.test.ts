import assert from 'node:assert/strict';
import { inputsFrom } from '../../../console/pages/workflow/code-inputs.js';

describe('the inputs of code', () => {
  it('are filled with what each node before gives: its JSON, its value, or its text', () => {
    const choice = (path: string, known?: unknown) => ({ label: path, text: `{{ ${path} }}`, known });
    assert.deepEqual(
      inputsFrom([
        { heading: 'Input of the run', choices: [choice('input.city')] },
        { heading: 'All orders', choices: [choice('a.result.content'), choice('a.result.json', { x: 1 })] },
        { heading: 'All orders', choices: [choice('b.result.content'), choice('b.result.json')] },
        { heading: '2 sums', choices: [choice('c.result.value'), choice('c.result.content')] },
        { heading: 'Each, each iteration', choices: [choice('d.item')] },
      ]),
      {
        input: '{{ input }}',
        allOrders: '{{ a.result.json }}',
        allOrders2: '{{ b.result.content }}',
        n2Sums: '{{ c.result.value }}',
      },
    );
  });
});
