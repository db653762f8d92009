import assert from 'node:assert/strict';
import { draftKey, forgetDrafts, listDrafts, readDraft, writeDraft } from '../../../console/service/drafts.js';

/** A browser's store with room for `room` characters. */
function startEntries(room = 5_000_000) {
  const kept = new Map<string, string>();
  return {
    kept,
    get length() {
      return kept.size;
    },
    key: (at: number) => [...kept.keys()][at] ?? null,
    getItem: (key: string) => kept.get(key) ?? null,
    removeItem: (key: string) => void kept.delete(key),
    setItem(key: string, value: string) {
      const others = [...kept].filter(([each]) => each !== key).reduce((sum, [, text]) => sum + text.length, 0);
      if (others + value.length > room) throw new DOMException('full', 'QuotaExceededError');
      kept.set(key, value);
    },
  };
}

const at = (day: number, minute = 0) => new Date(Date.UTC(2026, 0, day, 0, minute));

const PASSWORD_PIN = { properties: { pin: { format: 'password' } } };

describe('drafts in the browser', () => {
  it('are of one person, one workflow and one editor, the newest first', () => {
    const entries = startEntries();
    writeDraft(entries, draftKey(1, 7, 'a'), { version: 3 }, { nodes: ['a'] }, at(1));
    writeDraft(entries, draftKey(1, 7, 'b'), { version: 4, tag: '"t"' }, undefined, at(2));
    writeDraft(entries, draftKey(1, 70, 'c'), { version: 1 }, {}, at(2));
    writeDraft(entries, draftKey(10, 7, 'd'), { version: 1 }, {}, at(2));
    assert.deepEqual(listDrafts(entries, 1, 7), [
      { key: draftKey(1, 7, 'b'), savedAt: at(2).toISOString(), version: 4, tag: '"t"', hasDrawing: false },
      { key: draftKey(1, 7, 'a'), savedAt: at(1).toISOString(), version: 3, tag: undefined, hasDrawing: true },
    ]);
    assert.deepEqual(readDraft(entries, draftKey(1, 7, 'a')), { nodes: ['a'] });
  });

  it('of a person go when the person signs out, and those of others stay', () => {
    const entries = startEntries();
    entries.setItem('theme', 'dark');
    for (const user of [1, 10]) writeDraft(entries, draftKey(user, 7, 'a'), { version: 1 }, {}, at(1));
    forgetDrafts(entries, 1);
    assert.deepEqual([...entries.kept.keys()], ['theme', draftKey(10, 7, 'a')]);
  });

  it('are bounded: a huge one is refused, the oldest make room, and old ones go', () => {
    const entries = startEntries();
    const large = { text: 'x'.repeat(1_200_000) };
    assert.equal(writeDraft(entries, draftKey(1, 1, 'old'), { version: 1 }, {}, at(1)), true);
    for (const [minute, name] of ['a', 'b', 'c', 'd'].entries()) {
      assert.equal(writeDraft(entries, draftKey(1, 1, name), { version: 1 }, large, at(32, minute)), true);
    }
    const keys = [...entries.kept.keys()].toSorted();
    assert.deepEqual(
      keys,
      ['b', 'c', 'd'].map((name) => draftKey(1, 1, name)),
    );
    const own = draftKey(1, 1, 'd');
    const before = entries.kept.get(own);
    assert.equal(writeDraft(entries, own, { version: 1 }, { text: 'x'.repeat(1_500_000) }, at(33)), false);
    assert.equal(entries.kept.get(own), before);
    const full = startEntries(10);
    assert.equal(writeDraft(full, own, { version: 1 }, {}, at(1)), false);
    assert.equal(full.kept.size, 0);
  });

  it('hold no secret that was typed, and keep masks and variables', () => {
    const entries = startEntries();
    const drawing = {
      nodes: [
        {
          data: {
            headers: {
              Authorization: 'Bearer typed-1',
              'X-Api-Key': 'typed-2',
              Cookie: '********',
              Accept: 'text/plain',
              'X-Token': 'Bearer {{ input.token }}',
              'X-Secret': '{{ input.a }}typed-3{{ input.b }}',
            },
            url: 'https://ada:typed-7@api.example.com/x',
            action: { service: 's', id: 'a', method: 'POST', server: 'https://a.example', fields: PASSWORD_PIN },
            values: { api_key: 'typed-8', pin: 'typed-9', city: 'Oslo', token: '{{ input.t }}' },
            tools: [
              { headers: { authorization: 'typed-4' }, endpoint_url: 'https://typed-10@mcp.example.com/' },
              { endpoint_url: 'https://{{ input.user }}@mcp.example.org/' },
            ],
            input_fields: [
              { id: 'a', is_secret: true, default_value: 'typed-5' },
              { id: 'b', is_secret: true, default_value: '********' },
              { id: 'c', is_secret: true, default_value: { nested: 'typed-6' } },
              { id: 'd', is_secret: false, default_value: 'seen' },
            ],
          },
        },
      ],
    };
    const key = draftKey(1, 1, 'a');
    writeDraft(entries, key, { version: 1 }, drawing, at(1));
    const text = entries.kept.get(key)!;
    assert.doesNotMatch(text, /typed/);
    const shown = ['https://api.example.com/x', 'Oslo', '{{ input.t }}', 'https://{{ input.user }}@mcp.example.org/'];
    for (const kept of ['********', 'text/plain', 'Bearer {{ input.token }}', 'seen', ...shown])
      assert.ok(text.includes(kept), kept);
  });

  it('hold no value of an action whose fields are unknown, and none that the service takes for a credential', () => {
    const entries = startEntries();
    const fields = { properties: { code: { 'x-in': 'header', 'x-name': 'X-Api-Key' }, city: { 'x-in': 'query' } } };
    const facts = { method: 'POST', server: 'https://a.example', fields };
    const chosen = { service: 's', id: 'a' };
    const values = {
      passphrase: 'typed-1',
      pin: 1234,
      body: { nested: 'typed-2' },
      city: '{{ input.c }}',
      old: '********',
    };
    const drawing = {
      nodes: [
        { data: { action: chosen, values } },
        { data: { action: { ...chosen, ...facts }, values: { code: 'typed-3', city: 'Oslo' } } },
        {
          data: {
            tools: [
              { ...chosen, type: 'action', values: { passphrase: 'typed-4' } },
              { ...chosen, type: 'action', action: facts, values: { code: 'typed-5', city: 'Rome' } },
            ],
          },
        },
        { data: { values: { plain: 'Bern' } } },
      ],
    };
    const key = draftKey(1, 1, 'a');
    writeDraft(entries, key, { version: 1 }, drawing, at(1));
    assert.doesNotMatch(entries.kept.get(key)!, /typed|1234/);
    for (const kept of ['{{ input.c }}', '********', 'Oslo', 'Rome', 'Bern'])
      assert.ok(entries.kept.get(key)!.includes(kept), kept);
  });

  it('that cannot be read are none', () => {
    const entries = startEntries();
    for (const text of ['', 'no head', '2026-01-01T00:00:00.000Z 1\n{"a":', '2026-01-01T00:00:00.000Z 1\n[]']) {
      entries.setItem(draftKey(1, 1, 'a'), text);
      assert.equal(readDraft(entries, draftKey(1, 1, 'a')), undefined);
      assert.equal(listDrafts(entries, 1, 1).length, 1);
    }
    assert.equal(readDraft(entries, draftKey(1, 1, 'gone')), undefined);
  });
});
