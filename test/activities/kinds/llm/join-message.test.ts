import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JoinedMessage } from '../../../../activities/kinds/llm/join-message.js';
import type { JsonObject } from '../../../../graph/json.js';
import { textOfContent } from '../../../../graph/message-text.js';

/** Returns the value as a provider would have sent it. */
const parsed = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

function join(deltas: JsonObject[]): { message: JsonObject; told: string } {
  const joined = new JoinedMessage(() => undefined);
  const told = deltas.map((delta) => joined.add(parsed(delta))).join('');
  return { message: joined.toMessage(), told };
}

const call = (index: number | undefined, id: unknown, name?: unknown, written?: unknown): JsonObject => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  function: { ...(name !== undefined && { name }), ...(written !== undefined && { arguments: written }) },
});

function callsIn(pieces: JsonObject[]): unknown[] {
  const { message } = join(pieces.map((piece) => ({ tool_calls: [piece] })));
  return (message['tool_calls'] as { id?: unknown; function: { name?: unknown; arguments: unknown } }[]).map(
    ({ id, function: { name, arguments: written } }) => [id, name, written],
  );
}

describe('a message that comes in pieces', () => {
  it('has texts joined, but for those that each piece repeats, and lists of objects joined by their index', () => {
    const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1', id: null, index: 0 };
    const { message } = join([
      { reasoning: 'Let ', reasoning_details: [{ ...detail, text: 'Let ', signature: null }] },
      {
        reasoning: 'me.',
        reasoning_details: [{ ...detail, text: 'me.', signature: null }],
        annotations: [{ url: 'a' }],
      },
      {
        reasoning_details: [{ ...detail, signature: 'c2ln' }],
        annotations: [{ url: 'b' }],
        audio: { id: 'x', data: 'AA' },
      },
      {
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'eA', index: 0 }],
        audio: { id: 'x', data: 'BB', at: 7 },
      },
    ]);
    assert.deepEqual(message, {
      role: 'assistant',
      content: null,
      reasoning: 'Let me.',
      reasoning_details: [
        { ...detail, text: 'Let me.', signature: 'c2ln' },
        { type: 'reasoning.encrypted', data: 'eA', index: 0 },
      ],
      annotations: [{ url: 'a' }, { url: 'b' }],
      audio: { id: 'x', data: 'AABB', at: 7 },
    });
  });

  it('has a part of type text for a text amid lists, and tells no thoughts', () => {
    const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };
    const { message, told } = join([
      { content: 'So: ' },
      { content: [thought] },
      { content: '4' },
      { content: '2' },
      { content: [{ type: 'thinking', index: 3, text: 'still' }] },
      { content: [{ index: 3, text: ' thinking' }] },
      { content: [{ type: 'output_text', text: '!' }] },
    ]);
    assert.deepEqual(message['content'], [
      { type: 'text', text: 'So: ' },
      thought,
      { type: 'text', text: '42' },
      { type: 'thinking', index: 3, text: 'still thinking' },
      { type: 'output_text', text: '!' },
    ]);
    assert.equal(told, 'So: 42!');
  });

  it('begins another call where another id comes with a name, at the same index, too', () => {
    const wanted = [
      ['call_a', 'add', '{"n":1}'],
      ['call_b', 'add', '{"n":2}'],
    ];
    const whole = [call(0, 'call_a', 'add', '{"n":1}'), call(0, 'call_b', 'add', '{"n":2}')];
    const halves = [
      call(0, 'call_a', 'add', '{"n"'),
      call(0, undefined, undefined, ':1}'),
      call(0, 'call_b', 'add', ''),
      call(0, null, null, '{"n":2}'),
    ];
    const unnumbered = [call(undefined, 'call_a', 'add', '{"n":1}'), call(undefined, 'call_b', 'add', '{"n":2}')];
    for (const pieces of [whole, halves, unnumbered]) assert.deepEqual(callsIn(pieces), wanted);
  });

  it('goes on with the open call where a new id comes without a name, and for an id that is empty, null or repeated', () => {
    const wanted = [['call_a', 'add', '{"n":1}']];
    for (const id of ['chunk-2', '', null, undefined, 'call_a']) {
      assert.deepEqual(callsIn([call(0, 'call_a', 'add', '{"n"'), call(0, id, undefined, ':1}')]), wanted, String(id));
      assert.deepEqual(
        callsIn([call(undefined, 'call_a', 'add', '{"n"'), call(undefined, id, '', ':1}')]),
        wanted,
        String(id),
      );
    }
    assert.deepEqual(callsIn([call(0, 'call_a', 'add', '{"n"'), call(0, 'call_a', 'add', ':1}')]), wanted);
    assert.deepEqual(callsIn([call(0, '', 'add', '{"n"'), call(0, 'call_a', undefined, ':1}')]), wanted);
    assert.deepEqual(callsIn([call(0, undefined, 'add', ''), call(0, 'call_a', 'add', '{"n":1}')]), wanted);
  });

  it('knows calls without ids by their complete arguments, and calls without an index by their ids', () => {
    const braces = '{"text":"a } and a \\" {"}';
    const wanted = [
      [undefined, 'note', braces],
      [undefined, 'add', '{"n":[2]}'],
    ];
    for (const index of [0, undefined]) {
      const pieces = [call(index, '', 'note', braces.slice(0, 12)), call(index, '', 'note', braces.slice(12))];
      assert.deepEqual(callsIn([...pieces, call(index, null, 'add', '{"n":[2]}')]), wanted);
    }
    const mixed = [
      call(undefined, 'a', 'add', '{"n"'),
      call(undefined, 'b', 'add', '{}'),
      call(undefined, 'a', undefined, ':1}'),
    ];
    assert.deepEqual(callsIn(mixed), [
      ['a', 'add', '{"n":1}'],
      ['b', 'add', '{}'],
    ]);
  });

  it('has arguments that are an object, and fields of calls that only the provider knows', () => {
    const signature = { google: { thought_signature: 'c2ln' } };
    const { message } = join([
      { tool_calls: [{ ...call(0, 'a', 'add', { n: 1 }), extra_content: signature }] },
      { tool_calls: [call(0, undefined, undefined, ''), call(1, 'b', 'note')] },
    ]);
    assert.deepEqual(message['tool_calls'], [
      { id: 'a', type: 'function', function: { name: 'add', arguments: { n: 1 } }, extra_content: signature },
      { id: 'b', type: 'function', function: { name: 'note', arguments: '' } },
    ]);
  });

  it('is the same however a provider has cut it', () => {
    fc.assert(
      fc.property(cutMessage, ({ message, deltas }) => {
        const joined = join(deltas);
        assert.deepEqual(joined.message, parsed(message));
        assert.equal(joined.told, textOfContent(message['content']) ?? '');
      }),
      { numRuns: 500 },
    );
  });

  it('takes linear time for many items, and refuses what is nested too deeply', () => {
    const items = Array.from({ length: 200_000 }, (_, index) => ({ index, text: 'x' }));
    const startedAt = process.cpuUsage();
    const { message } = join([{ details: items }, { details: items.toReversed() }]);
    const { user } = process.cpuUsage(startedAt);
    assert.equal((message['details'] as object[]).length, items.length);
    // A quadratic algorithm would take minutes.
    assert.ok(user < 20_000_000, `${user} µs`);
    let deep: unknown = 'x';
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    assert.throws(() => new JoinedMessage(() => undefined).add({ details: deep }), /nested too deeply/);
  });
});

// These arbitraries make random messages, and cut them in the ways in which providers do.

const word = fc.string({ minLength: 1, maxLength: 12 });
const id = fc.uuid();

/** Cuts a text into pieces, of which some may be empty. */
function cut(text: string): fc.Arbitrary<string[]> {
  return fc
    .array(fc.nat(text.length), { maxLength: 4 })
    .map((places) => [0, ...places.toSorted((one, other) => one - other), text.length])
    .map((places) => places.slice(1).map((end, at) => text.slice(places[at], end)));
}

/** A part of a message, and the deltas in which it comes. */
interface Part {
  fields: JsonObject;
  deltas: JsonObject[];
}

const textField = (name: string): fc.Arbitrary<Part> =>
  word.chain((text) =>
    cut(text).map((pieces) => ({ fields: { [name]: text }, deltas: pieces.map((piece) => ({ [name]: piece })) })),
  );

const NOTHING: Part = { fields: {}, deltas: [] };
const maybe = (part: fc.Arbitrary<Part>): fc.Arbitrary<Part> => fc.oneof(fc.constant(NOTHING), part);

const detailFacts = fc.record({
  type: fc.constantFrom('reasoning.text', 'reasoning.summary'),
  format: fc.constantFrom('anthropic-claude-v1', 'google-gemini-v1'),
  id: fc.option(id),
});

const details: fc.Arbitrary<Part> = fc
  .array(
    fc.tuple(
      detailFacts,
      word,
      word.chain((text) => cut(text)),
      fc.boolean(),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((items) => {
    const whole = items.map(([facts, signature, pieces], index) => {
      return { ...facts, index, text: pieces.join(''), signature };
    });
    const deltas = items.flatMap(([facts, signature, pieces, repeats], index) => {
      const head = { ...facts, index };
      const texts = pieces.map((text, at) => ({ ...(at === 0 || repeats ? head : { index }), text, signature: null }));
      return [...texts, { ...(repeats && head), index, signature }].map((item) => ({ reasoning_details: [item] }));
    });
    return { fields: { reasoning_details: whole }, deltas };
  });

const annotations: fc.Arbitrary<Part> = fc
  .array(fc.record({ type: fc.constant('url_citation'), url: fc.webUrl(), start: fc.nat() }), { minLength: 1 })
  .chain((items) =>
    fc.nat(items.length).map((at) => ({
      fields: { annotations: items },
      deltas: [{ annotations: items.slice(0, at) }, { annotations: items.slice(at) }],
    })),
  );

const audio: fc.Arbitrary<Part> = fc.tuple(id, word, fc.nat()).chain(([of, data, expires]) =>
  cut(data).map((pieces) => ({
    fields: { audio: { id: of, data, expires_at: expires } },
    deltas: [...pieces.map((piece) => ({ audio: { id: of, data: piece } })), { audio: { expires_at: expires } }],
  })),
);

const thought = fc.record({
  type: fc.constant('thinking'),
  thinking: fc.array(fc.record({ type: fc.constant('text'), text: word }), { minLength: 1, maxLength: 2 }),
});

const plainContent: fc.Arbitrary<Part> = fc.string().chain((text) =>
  cut(text).map((pieces) => ({
    fields: { content: text },
    deltas: [{ content: '' }, ...pieces.map((piece) => ({ content: piece }))],
  })),
);

/** Thoughts and texts alternate: the thoughts as lists, the texts as texts or as lists. */
const listedContent: fc.Arbitrary<Part> = fc
  .tuple(
    fc.option(word, { nil: '' }),
    fc.array(
      fc.tuple(
        thought,
        word.chain((text) => cut(text)),
      ),
      { minLength: 1 },
    ),
  )
  .map(([first, turns]) => {
    const said = (text: string) => ({ type: 'text', text });
    const fields = {
      content: [
        ...(first === '' ? [] : [said(first)]),
        ...turns.flatMap(([thinking, pieces]) => [thinking, said(pieces.join(''))]),
      ],
    };
    const deltas = turns.flatMap(([thinking, pieces]) => [
      { content: [thinking] },
      ...pieces.map((piece) => ({ content: piece })),
    ]);
    return { fields, deltas: [{ content: first }, ...deltas] };
  });

interface Call {
  id: string;
  name: string;
  pieces: string[];
  extra: JsonObject;
}

const extraOfCall = fc.oneof(
  fc.constant({}),
  word.map((signature) => ({ extra_content: { google: { thought_signature: signature } } })),
);
const someCall: fc.Arbitrary<Call> = fc.record({
  id,
  name: fc.constantFrom('add', 'note', 'find'),
  pieces: fc.dictionary(word, word).chain((given) => cut(JSON.stringify(given))),
  extra: extraOfCall,
});

/** The ids that providers send with later pieces of an open call. */
const laterIds: ((call: Call, at: number) => JsonObject)[] = [
  () => ({}),
  () => ({ id: '' }),
  () => ({ id: null }),
  (open) => ({ id: open.id }),
  (open, at) => ({ id: `${open.id}-chunk-${at}` }),
];

/** The indexes of calls: one for each call, the same for all, or none. */
const numberings: ((at: number) => JsonObject)[] = [(at) => ({ index: at }), () => ({ index: 0 }), () => ({})];

const calls: fc.Arbitrary<Part> = fc
  .tuple(
    fc.uniqueArray(someCall, { minLength: 1, maxLength: 4, selector: ({ id: of }) => of }),
    fc.constantFrom(...numberings),
    fc.constantFrom(...laterIds),
    fc.boolean(),
  )
  .map(([made, numbering, laterId, isNumberedInTurn]) => {
    const pieces = made.map((each, at) => {
      const [first, ...rest] = each.pieces;
      const head = { ...numbering(at), id: each.id, type: 'function', ...each.extra };
      return [
        { ...head, function: { name: each.name, arguments: first } },
        ...rest.map((piece, number) => ({
          ...numbering(at),
          ...laterId(each, number),
          function: { arguments: piece },
        })),
      ];
    });
    const isInTurn = isNumberedInTurn && numbering === numberings[0];
    const ordered = isInTurn ? inTurn(pieces) : pieces.flat();
    return {
      fields: {
        tool_calls: made.map(({ id: of, name, pieces: written, extra }) => ({
          ...extra,
          id: of,
          type: 'function',
          function: { name, arguments: written.join('') },
        })),
      },
      deltas: ordered.map((piece) => ({ tool_calls: [piece] })),
    };
  });

/** Interleaves the lists: the first piece of each list, then the second one of each, and so on. */
function inTurn<Item>(lists: Item[][]): Item[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

const cutMessage = fc
  .tuple(
    maybe(fc.oneof(plainContent, listedContent)),
    maybe(textField('reasoning_content')),
    maybe(textField('refusal')),
    maybe(details),
    maybe(annotations),
    maybe(audio),
    maybe(calls),
  )
  .chain((parts) =>
    fc.boolean().map((isMixed) => {
      const lists = parts.map(({ deltas }) => deltas);
      const fields = parts.map((part) => part.fields);
      return {
        message: Object.assign({ role: 'assistant', content: null }, ...fields) as JsonObject,
        deltas: [{ role: 'assistant', content: null }, ...(isMixed ? inTurn(lists) : lists.flat())],
      };
    }),
  );
