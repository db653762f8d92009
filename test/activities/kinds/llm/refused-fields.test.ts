import assert from 'node:assert/strict';
import { APIConnectionError, APIError } from 'openai';
import { createRefusedFields } from '../../../../activities/kinds/llm/refused-fields.js';

const refusal = (status: number, message: string, param?: string): APIError =>
  APIError.generate(status, { error: { message, param } }, undefined, new Headers());

describe('the fields that a provider refuses', () => {
  const learn = (error: unknown, candidates: string[]): string | undefined =>
    createRefusedFields().learn('m', error, candidates);

  it('are named by the refusal as a word of its own, in whatever case, or as its parameter', () => {
    const named = [
      'stream_options: Extra inputs are not permitted',
      'body.stream_options: Extra inputs are not permitted',
      "Unrecognized request argument supplied: 'Stream_Options'",
      'The stream_options parameter is only allowed where stream is true.',
      'unknown field "stream_options"',
    ];
    for (const message of named) {
      assert.equal(learn(refusal(422, message), ['stream_options', 'stream']), 'stream_options', message);
    }
    assert.equal(learn(refusal(400, 'Unknown parameter.', 'stream_options'), ['stream_options']), 'stream_options');
    const groq = "'messages.2' : property 'reasoning_content' is unsupported";
    assert.equal(learn(refusal(400, groq), ['reasoning', 'reasoning_content']), 'reasoning_content');
    assert.equal(learn(refusal(400, 'the field x-thought.signature is unknown'), ['', 'x-thought']), 'x-thought');
  });

  it('are none where the refusal names another field, or is no refusal of the request', () => {
    const message = 'stream_options_v2 and upstream_options are unknown';
    assert.equal(learn(refusal(422, message), ['stream_options', 'stream', '']), undefined);
    for (const status of [401, 403, 408, 409, 429, 500, 503]) {
      assert.equal(learn(refusal(status, 'stream_options'), ['stream_options']), undefined);
    }
    assert.equal(learn(new APIConnectionError({ message: 'stream_options' }), ['stream_options']), undefined);
    assert.equal(learn(new Error('stream_options'), ['stream_options']), undefined);
  });

  it('are remembered for the model alone, and of all models at most a thousand', () => {
    const refused = createRefusedFields();
    refused.learn('m', refusal(400, 'no name please'), ['name']);
    assert.deepEqual(
      [refused.has('m', 'name'), refused.has('m', 'other'), refused.has('n', 'name')],
      [true, false, false],
    );
    for (let model = 0; model < 1_000; model += 1) refused.learn(`n${model}`, refusal(400, 'name'), ['name']);
    assert.deepEqual([refused.has('m', 'name'), refused.has('n999', 'name')], [false, true]);
  });
});
