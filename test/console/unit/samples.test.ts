import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { checkDrawing } from '../../../api/workflows/check-drawing.js';
import { forService, matches, toSample, type SampleFile } from '../../../console/parts/gallery/sample.js';

const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');
const samples = ['graphs', 'gallery'].flatMap((folder) =>
  readdirSync(path.join(EXAMPLES, folder)).map((file) =>
    toSample(
      path.basename(file, '.json'),
      JSON.parse(readFileSync(path.join(EXAMPLES, folder, file), 'utf8')) as SampleFile,
    ),
  ),
);
const one = (name: string) => samples.find((sample) => sample.name === name)!;

describe('the samples of the gallery', () => {
  it('have one sentence each, and say what they need', () => {
    for (const { name, line } of samples) assert.match(line, /^[^.!?]+[.!?]$/, name);
    assert.deepEqual(one('agent-with-tools').needs, ['a model', 'an MCP server', 'a person who decides']);
    assert.deepEqual(one('help-desk-clerk').needs, ['a model', 'a service with such actions', 'a person who decides']);
    assert.deepEqual(one('translate-into-all').needs, ['another workflow']);
    assert.deepEqual(one('ask-a-document').needs, ['a file', 'a model']);
    assert.deepEqual(one('rate-alert').needs, ['the address of the rates', 'the address of the chat']);
    assert.deepEqual(one('clean-contacts').needs, []);
  });

  it('lose the model and the addresses of the demo, so that only what a person must say is missing', () => {
    for (const { name, drawing } of samples) {
      const text = JSON.stringify(forService(drawing, 'my-model'));
      assert.doesNotMatch(text, /127\.0\.0\.1|sandbox-echo/, name);
      const { errors } = checkDrawing(forService(drawing, undefined), {}, 30);
      for (const { path: place } of errors)
        assert.match(place, /model_name|endpoint_url|workflow_id|^tools\.\d+\.id$/, name);
      const named = checkDrawing(forService(drawing, 'my-model'), {}, 30);
      assert.deepEqual(
        named.errors.filter(({ path: place }) => place.includes('model_name')),
        [],
        name,
      );
    }
  });

  it('are found by all words of their texts', () => {
    assert.equal(matches(one('triage-tickets'), 'APPROVAL ticket'), true);
    assert.equal(matches(one('triage-tickets'), 'approval weather'), false);
    assert.equal(matches(one('triage-tickets'), ''), true);
  });
});
