// In n8n, an item has files beside its fields. Here a file is the value of a field: such files are made, read and sent.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../graph/json.js';
import { playNodes, type Drawn } from './play-nodes.js';

const items = (list: readonly JsonObject[]): Drawn => ({
  type: 'code',
  version: 2,
  parameters: { jsCode: `return ${JSON.stringify(list)};` },
});
const convert = (parameters: JsonObject): Drawn => ({ type: 'convertToFile', version: 1.1, parameters });
const extract = (parameters: JsonObject): Drawn => ({ type: 'extractFromFile', version: 1, parameters });

/** Converts the items to a file and reads it again. Returns the items that were read, or the messages of errors. */
async function through(list: readonly JsonObject[], to: JsonObject, from: JsonObject): Promise<unknown> {
  const { of, caught } = await playNodes({ Items: items(list), To: convert(to), From: extract(from) });
  return caught.length > 0 ? caught : of('From');
}

describe('files of items of n8n', function () {
  this.timeout(60_000);

  const rows = [
    { name: 'Zoë, "Z"', age: 36, at: { home: 'a\nb' } },
    { name: '', age: 40, at: { home: '' } },
  ];

  for (const operation of ['xlsx', 'ods', 'xls', 'html']) {
    it(`come back as rows from a file of the kind ${operation}`, async () => {
      const back = (await through(rows, { operation }, { operation })) as JsonObject[];
      assert.deepEqual(
        back.map(({ name, age }) => [name ?? '', age]),
        [
          ['Zoë, "Z"', 36],
          ['', 40],
        ],
      );
    });
  }

  it('come back as texts from CSV, with lines, quotes and another delimiter', async () => {
    const parameters = { operation: 'csv', options: { delimiter: ';', headerRow: true, enableBOM: true } };
    assert.deepEqual(await through(rows, parameters, parameters), [
      { name: 'Zoë, "Z"', age: '36', 'at.home': 'a\nb' },
      { age: '40' },
    ]);
  });

  it('hold JSON, texts and bytes', async () => {
    assert.deepEqual(await through(rows, { operation: 'toJson' }, { operation: 'fromJson' }), [{ data: rows }]);
    const each = { operation: 'toJson', mode: 'each', binaryPropertyName: 'file' };
    const read = { operation: 'fromJson', binaryPropertyName: 'file', destinationKey: 'row' };
    assert.deepEqual(await through(rows, each, read), [{ row: rows[0] }, { row: rows[1] }]);
    const bytes = [{ text: Buffer.from([0, 255, 128, 7]).toString('base64') }];
    assert.deepEqual(
      await through(bytes, { operation: 'toBinary', sourceProperty: 'text' }, { operation: 'binaryToPropery' }),
      [{ data: bytes[0]!.text }],
    );
  });

  it('are an error where there is none, and where one is no JSON', async () => {
    const text = { operation: 'toText', sourceProperty: 'name' };
    const [missing] = (await through(rows, text, { binaryPropertyName: 'other' })) as string[];
    assert.match(missing!, /The item has no file in the field "other"/);
    const [wrong] = (await through(rows, text, { operation: 'fromJson' })) as string[];
    assert.match(wrong!, /is not in JSON format/);
  });

  it('come from answers beside the fields of their item, and are sent in forms and as bodies', async () => {
    const file = { file_id: 'f-1', name: 'scan.png', type: 'image/png' };
    const sent: unknown[] = [];
    const post = (parameters: JsonObject): Drawn => ({
      type: 'httpRequest',
      version: 4.2,
      parameters: { method: 'POST', url: 'https://example.com', sendBody: true, ...parameters },
      to: [],
    });
    const field = { parameterType: 'formBinaryData', name: 'scan', inputDataFieldName: 'data' };
    const { of, warnings } = await playNodes(
      {
        Items: items([{ n: 1 }, { n: 2 }]),
        Get: {
          type: 'httpRequest',
          version: 4.2,
          parameters: {
            url: '=https://example.com/{{ $json.n }}',
            options: { response: { response: { responseFormat: 'file' } } },
          },
          to: [['Form', 'Body']],
        },
        Form: post({ contentType: 'multipart-form-data', bodyParameters: { parameters: [field] } }),
        Body: post({ contentType: 'binaryData', inputDataFieldName: 'data' }),
      },
      (_, { method, body, settings }) => {
        if (method === 'POST') sent.push(body);
        else assert.equal((settings as JsonObject)['response'], 'file');
        return {};
      },
      { file },
    );
    assert.deepEqual(of('Get'), [
      { n: 1, data: file },
      { n: 2, data: file },
    ]);
    assert.deepEqual(sent.map((body) => JSON.stringify(body)).toSorted(), [
      JSON.stringify({ $file: file }),
      JSON.stringify({ $file: file }),
      JSON.stringify({ $form: { scan: file } }),
      JSON.stringify({ $form: { scan: file } }),
    ]);
    assert.deepEqual(
      warnings.map(({ node, message }) => `${node}: ${message}`),
      ['Get: The file of an item stands in its field "data" here, and not beside its fields.'],
    );
  });
});
