// The files that the nodes of a drawing name, and which of them must exist for a run to start.
import assert from 'node:assert/strict';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { toSentences } from '../../acceptance/prepare-run.js';
import { filesOfNodes, resolveRunFiles } from '../../acceptance/run-files.js';
import type { Tables } from '../../db/core/tables.js';
import type { JsonObject } from '../../graph/json.js';

/** Returns no rows for every query: the project has no files. */
const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (of) => new PostgresIntrospector(of),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const FILE = { file_id: '5f0c7a52-3a86-4a8e-9f1d-0d9d3c1b6a11' };

/** Returns the paths of a node's data at which the start of a run is refused. */
async function refusedPlaces(data: JsonObject): Promise<string[]> {
  const drawn = filesOfNodes({ nodes: [{ id: 'a', data }] }, { ids: ['a'] });
  const { nodeErrors } = await resolveRunFiles(db, { projectId: 1, fields: [], input: {}, drawn });
  return (nodeErrors['a'] ?? []).flatMap((error) => Object.keys(error));
}

describe('a file in a drawing that the project does not have', () => {
  it('is refused where the service would read it', async () => {
    const places: [JsonObject, string][] = [
      [{ body: { $file: FILE } }, 'body.$file'],
      [{ body: { $form: { document: FILE, note: 'x' } } }, 'body.$form.document'],
      [{ body: { $form: { documents: [FILE] } } }, 'body.$form.documents.0'],
      [{ messages: [{ role: 'user', message: 'Read', files: ['{{ input.x }}', FILE] }] }, 'messages.0.files.1'],
      [{ message: 'Look', files: [FILE] }, 'files.0'],
    ];
    for (const [data, place] of places) assert.deepEqual(await refusedPlaces(data), [place], place);
  });

  it('is the JSON of another service elsewhere', async () => {
    const places: JsonObject[] = [
      { body: { files: [FILE] } },
      { body: { message: { $file: FILE } } },
      { body: { list: [{ $form: { document: FILE } }] } },
      { body: { $form: { order: { attachments: [FILE] } } } },
      { inputs: { files: [FILE] } },
      { values: { files: [FILE] } },
      { arguments: { files: [FILE] } },
      { tools: [{ type: 'action', values: { files: [FILE] } }] },
      { value: { $file: FILE } },
    ];
    for (const data of places) assert.deepEqual(await refusedPlaces(data), [], JSON.stringify(data));
  });
});

describe('the errors of a run as one text', () => {
  it('end with one full stop', () => {
    const errors = { a: [{ url: 'The host is missing.' }, { body: 'Field required' }] };
    assert.equal(toSentences(errors), 'node a, url: The host is missing; node a, body: Field required.');
    assert.equal(toSentences({ a: [{ url: 'The host is missing.' }] }), 'node a, url: The host is missing.');
  });
});
