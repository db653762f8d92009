import assert from 'node:assert/strict';
import facts from '../../../api/connections/presets.json' with { type: 'json' };
import { connectionPresets, connectionPresetSchema, type ConnectionPreset } from '../../../api/connections/presets.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';

const KEYS = ['id', 'name', 'kind', 'origins', 'settings', 'documentation_url', 'mcp_url', 'source', 'checked'];

/** The domain on which a service is called, and the other domain on which its vendor documents it. */
const DOCUMENTED_AT: Record<string, string> = {
  'algolia.net': 'algolia.com',
  'dropboxapi.com': 'dropbox.tech',
  'githubcopilot.com': 'github.com',
  'intercom.io': 'intercom.com',
  'myshopify.com': 'shopify.dev',
  'sendgrid.com': 'twilio.com',
  'sentry.dev': 'sentry.io',
  'slack.com': 'slack.dev',
  'supabase.co': 'supabase.com',
  'trello.com': 'atlassian.com',
  '{site}': 'datadoghq.com',
};

/** Returns all strings in a value, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Returns the addresses that a connection of this preset calls or sends users to. */
function addressesOf({ origins, settings, mcp_url }: ConnectionPreset): string[] {
  const urls = Object.entries(settings).flatMap(([key, value]) => (key.endsWith('_url') ? textsIn(value) : []));
  return [...origins, ...urls, ...(mcp_url === undefined ? [] : [mcp_url])];
}

function placeholdersIn(text: string): string[] {
  return [...text.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!);
}

function filledIn(address: string): URL {
  return new URL(address.replaceAll(/\{[a-z_]+\}/g, 'example'));
}

function domainOf(address: string): string {
  const host = /^https:\/\/([^/]+)/.exec(address)![1]!;
  return host
    .split('.')
    .slice(host.endsWith('}') ? -1 : -2)
    .join('.');
}

describe('presets of connections', function () {
  this.timeout(120_000);

  describe('the file presets.json', () => {
    it('has at least 30 services with unique ids, which are slugs, and with unique names', () => {
      assert.ok(facts.length >= 30, `${facts.length}`);
      for (const values of [facts.map(({ id }) => id), facts.map(({ name }) => name)]) {
        assert.equal(new Set(values).size, facts.length);
      }
      assert.deepEqual(
        facts.filter(({ id }) => !/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(id)),
        [],
      );
    });

    for (const fact of facts) {
      const preset = connectionPresetSchema.parse(fact);

      it(`${preset.name} has the date of its last check, and sources on pages of its vendor`, () => {
        assert.deepEqual(
          Object.keys(fact).filter((key) => !KEYS.includes(key)),
          [],
        );
        assert.match(fact.checked, /^20\d\d-\d\d-\d\d$/);
        assert.ok(Date.parse(fact.checked) <= Date.now());
        const own = addressesOf(preset).map(domainOf);
        const documented = own.flatMap((domain) => DOCUMENTED_AT[domain] ?? []);
        for (const page of [fact.source, fact.documentation_url]) {
          assert.equal(new URL(page).protocol, 'https:');
          assert.ok([...own, ...documented].includes(domainOf(page)), page);
        }
      });

      it(`${preset.name} has https addresses only, without wildcards`, () => {
        for (const address of addressesOf(preset)) {
          assert.ok(!address.includes('*'), address);
          const url = filledIn(address);
          assert.deepEqual([url.protocol, url.port, url.username, url.search, url.hash], ['https:', '', '', '', '']);
        }
        for (const origin of preset.origins)
          assert.equal(filledIn(origin).origin, origin.replaceAll(/\{[a-z_]+\}/g, 'example'));
      });

      it(`${preset.name} has placeholders in addresses only`, () => {
        const addresses = addressesOf(preset);
        const others = textsIn(preset).filter((text) => !addresses.includes(text));
        assert.deepEqual(
          others.filter((text) => /[{}]/.test(text)),
          [],
        );
        const asked = new Set(addresses.flatMap(placeholdersIn));
        for (const name of asked) assert.match(name, /^[a-z]+(?:_[a-z]+)*$/);
      });
    }

    it('has the MCP server of a preset among the origins that get the credential', () => {
      const servers = connectionPresets.filter(({ mcp_url }) => mcp_url !== undefined);
      assert.ok(servers.length >= 5, `${servers.length}`);
      for (const { kind, origins, settings, mcp_url } of servers) {
        assert.ok(origins.includes(new URL(mcp_url!).origin), mcp_url);
        if (kind === 'mcp_oauth') assert.equal(settings.server_url, mcp_url);
      }
    });
  });

  it('are public, sorted by name, and listed without the sources of the facts', async () => {
    const { apiUrl } = await sharedStack();
    const { status, body } = await createApiClient(apiUrl).get<ConnectionPreset[]>('/connection-presets/');
    assert.equal(status, 200);
    assert.deepEqual(
      body.map(({ name }) => name),
      facts.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b, 'en')),
    );
    for (const { source: _source, checked: _checked, ...expected } of facts) {
      assert.deepEqual(
        body.find(({ id }) => id === expected.id),
        expected,
      );
    }
  });
});
