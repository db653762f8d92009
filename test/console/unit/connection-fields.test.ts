import assert from 'node:assert/strict';
import { connectionPresets } from '../../../api/connections/presets.js';
import { ServiceError } from '../../../clients/typescript/src/index.js';
import { connectionKinds } from '../../../connections/kinds.js';
import type { Connection, Preset } from '../../../console/parts/connection/connection-types.js';
import {
  fieldsOf,
  KINDS,
  newFields,
  placeholderLabel,
  placeholdersOf,
  problemsOf,
  refusalsOf,
  toBody,
  withPlaceholders,
} from '../../../console/parts/connection/connection-fields.js';

const presets = connectionPresets as readonly Preset[];
const presetOf = (id: string): Preset => presets.find((preset) => preset.id === id)!;

describe('the fields of a connection', () => {
  it('are those of the service, for every kind', () => {
    assert.deepEqual(Object.keys(KINDS).toSorted(), Object.keys(connectionKinds).toSorted());
  });

  it('become what the service accepts, for every known service', () => {
    for (const preset of presets) {
      const placeholders = Object.fromEntries(placeholdersOf(preset).map((name) => [name, 'acme']));
      const empty = withPlaceholders(newFields(preset), preset, { before: {}, values: placeholders });
      const filled = {
        ...empty,
        settings: { ...empty.settings, ...(preset.kind.startsWith('oauth2') && { client_id: 'me' }) },
        secrets: Object.fromEntries(KINDS[preset.kind].secrets.map(({ key }) => [key, 'secret'])),
        rows: empty.rows.map((row) => ({ ...row, value: 'secret' })),
      };
      assert.deepEqual(problemsOf(filled, { isNew: true, placeholders }), {}, preset.id);
      const { settings, secrets, origins } = toBody(filled);
      const schemas = connectionKinds[preset.kind];
      assert.equal(schemas.settings.safeParse(settings).success, true, `${preset.id}: ${JSON.stringify(settings)}`);
      assert.equal(schemas.secrets.safeParse(secrets).success, true, `${preset.id}: ${JSON.stringify(secrets)}`);
      assert.equal(/\{\w+\}/.test(JSON.stringify({ settings, origins })), false, preset.id);
    }
  });

  it('keep scopes as the service writes them', () => {
    const fields = newFields(presetOf('linear'));
    assert.deepEqual(toBody(fields).settings['scopes'], ['read,write']);
    const jira = toBody(newFields(presetOf('jira'))).settings;
    assert.deepEqual(jira['authorize_params'], { audience: 'api.atlassian.com', prompt: 'consent' });
  });

  it('fill in a part of an address everywhere, and follow what is typed', () => {
    const preset = presetOf('salesforce');
    assert.deepEqual(placeholdersOf(preset), ['my_domain']);
    assert.equal(placeholderLabel('my_domain'), 'My domain');
    assert.equal(placeholderLabel('application_id'), 'Application ID');
    let fields = newFields(preset);
    let known: Readonly<Record<string, string>> = {};
    const type = (domain: string): void => {
      const values = { my_domain: domain };
      fields = withPlaceholders(fields, preset, { before: known, values });
      known = values;
    };
    for (const text of ['a', 'ac', '', 'acme']) type(text);
    assert.equal(fields.origins, 'https://acme.my.salesforce.com');
    assert.equal(fields.settings['token_url'], 'https://acme.my.salesforce.com/services/oauth2/token');
    assert.equal(fields.settings['scopes'], 'api\nrefresh_token');
    fields = { ...fields, origins: 'https://acme.example.com', settings: { ...fields.settings, client_id: 'me' } };
    type('acme-2');
    assert.equal(fields.origins, 'https://acme.example.com', 'what the person has changed remains');
    assert.equal(fields.settings['client_id'], 'me');
    assert.equal(fields.settings['token_url'], 'https://acme-2.my.salesforce.com/services/oauth2/token');
  });

  it('name what is missing, but no secret that is stored', () => {
    const fields = newFields('header');
    assert.deepEqual(Object.keys(problemsOf(fields, { isNew: true })), [
      'name',
      'origins',
      'rows.0.name',
      'rows.0.value',
    ]);
    assert.deepEqual(Object.keys(problemsOf(fields, { isNew: false })), ['name', 'origins', 'rows.0.name']);
    const given = { isNew: true, placeholders: { site: 'https://x', dc: '', shop: ' acme ' } };
    const found = problemsOf({ ...newFields('bearer'), name: 'x', origins: 'https://x' }, given);
    assert.deepEqual(Object.keys(found), ['secrets.token', 'placeholders.site', 'placeholders.dc']);
  });

  it('mask secrets that were not written anew, and send no empty ones', () => {
    const connection = { name: 'a', origins: ['https://a'], kind: 'header', settings: { names: ['x', 'y'] } };
    const fields = fieldsOf(connection as unknown as Connection);
    const [first, second] = fields.rows;
    const body = toBody({ ...fields, rows: [first!, { ...second!, value: 'new' }] });
    assert.deepEqual(body.secrets, { values: ['********', 'new'] });
    assert.deepEqual(toBody(newFields('bearer')).secrets, {});
    assert.deepEqual(toBody(newFields('basic')).settings, { username: '' });
  });

  it('take the origin of an MCP server where none is given', () => {
    const fields = { ...newFields('mcp_oauth'), settings: { server_url: ' https://mcp.example.com/mcp ' } };
    const { origins, settings } = toBody(fields);
    assert.deepEqual([origins, settings], [['https://mcp.example.com'], { server_url: 'https://mcp.example.com/mcp' }]);
    assert.deepEqual(toBody({ ...fields, origins: 'https://a https://b,\nhttps://c' }).origins.length, 3);
  });

  it('get a name that is free', () => {
    assert.equal(newFields(presetOf('slack'), ['Slack', 'Slack 2']).name, 'Slack 3');
  });

  it('show what the service refuses where it was written', () => {
    const refused = (said: Record<string, string[]>) =>
      refusalsOf(Object.assign(Object.create(ServiceError.prototype) as ServiceError, { fields: said }));
    const fields = { settings: ['token_url: Enter a valid URL.', 'Invalid input'], name: ['Taken.'] };
    assert.deepEqual(refused(fields), {
      'settings.token_url': 'Enter a valid URL.',
      settings: 'Invalid input',
      name: 'Taken.',
    });
    assert.deepEqual(refusalsOf(new Error('x')), {});
    const lists = { settings: ['names.1: Enter a name.', 'scopes.2: Enter one.'], secrets: ['values.1: Too long.'] };
    assert.deepEqual(refused(lists), {
      'rows.1.name': 'Enter a name.',
      'settings.scopes': 'Enter one.',
      'rows.1.value': 'Too long.',
    });
  });
});
