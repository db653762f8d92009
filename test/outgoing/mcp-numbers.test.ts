import assert from 'node:assert/strict';
import type { ExactNumber } from '../../graph/exact-number.js';
import { isObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { markNumber, markNumbersIn, markNumbersInEvents, restoreMarkedNumbers } from '../../outgoing/exact-numbers.js';
import { createMcpClient } from '../../outgoing/mcp-client.js';
import type { McpClient } from '../../outgoing/mcp-types.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  openEvents,
  sseScript,
  startFakeMcpServer,
  type FakeMcpServer,
  type McpHandler,
  writtenResult,
} from '../support/fake-mcp-server.js';
import { callTool, listTools } from './mcp.js';

/**
 * Numbers as servers write them: ids of databases, decimals of other languages, in texts, keys and pretty-printed
 * lists.
 */
const EXACT =
  '{"id":9007199254740993,"list":[-9223372036854775808, 18446744073709551615\n,\t0.12345678901234567890],"tiny":1e-400,' +
  '"text":"9007199254740993, and \\"9007199254740993\\"","9007199254740993":1.5,"plain":[0,-1,1e3,9007199254740991]}';

describe('exact numbers through a library that parses JSON', () => {
  const throughLibrary = (json: string) =>
    restoreMarkedNumbers(JSON.parse(Buffer.from(markNumbersIn(Buffer.from(json))).toString()) as unknown);

  it('come out as they went in, and everything else stays as it is', () => {
    assert.equal(writeJson(throughLibrary(EXACT)), writeJson(parseJson(EXACT)));
    assert.deepEqual(throughLibrary('["é 12345678901234567890",123]'), ['é 12345678901234567890', 123]);
    const plain = Buffer.from('{"a":[1,2.5,"x"]}');
    assert.equal(markNumbersIn(plain), plain);
  });

  it('make no JSON of what is none', () => {
    for (const text of [
      '{12345678901234567890:1}',
      '{12345678901234567890 : 1}',
      '01234567890123456789',
      '12345678901234567890-1',
      '12345678901234567890.',
      '--12345678901234567890',
      '[12345678901234567890 1]',
      'x12345678901234567890',
    ]) {
      assert.throws(() => throughLibrary(text), SyntaxError, text);
    }
  });

  it('are found in the data of events alone, whatever ends their lines', () => {
    const events = (end: string, first: string, second: string) =>
      [
        'id: 12345678901234567890',
        'event: message',
        `data: {"a":${first},`,
        `data:"b":${second}}`,
        '',
        'event: endpoint',
        'data: /message?session=1,12345678901234567890',
        '',
        ': 12345678901234567890',
        '',
      ].join(end);
    const mark = (number: string) => `"${markNumber(number)}"`;
    for (const end of ['\n', '\r\n', '\r']) {
      const marked = markNumbersInEvents(Buffer.from(events(end, '-12345678901234567890', '1e999')));
      assert.equal(Buffer.from(marked).toString(), events(end, mark('-12345678901234567890'), mark('1e999')));
    }
  });
});

describe('exact numbers of MCP servers', function () {
  this.timeout(120_000);
  let client: McpClient;
  let fake: FakeMcpServer;

  before(async () => {
    client = createMcpClient({ allowPrivateNetwork: true });
    fake = await startFakeMcpServer();
  });
  after(async () => {
    await client.close();
    await fake.close();
  });

  const answerWith = (result: string, type: 'json' | 'events'): McpHandler => {
    if (type === 'json') return writtenResult(result);
    return ({ id }, response) => openEvents(response).event(`{"jsonrpc":"2.0","id":${String(id)},"result":${result}}`);
  };

  it('are kept in results and in schemas, in one piece and streamed', async () => {
    const one = EXACT.replaceAll(/\s+(?=[,0])/g, '');
    const schema = '{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807}}}';
    for (const type of ['json', 'events'] as const) {
      const { url } = fake.endpoint({
        'tools/call': answerWith(`{"content":[],"structuredContent":${one}}`, type),
        'tools/list': answerWith(`{"tools":[{"name":"a","inputSchema":${schema}}]}`, type),
      });
      const { structuredContent } = await callTool(client, url);
      assert.equal(writeJson(structuredContent), writeJson(parseJson(one)), type);
      const [tool] = await listTools(client, url);
      assert.ok(isObject(tool));
      assert.equal(writeJson(tool['inputSchema']), schema, type);
    }
  });

  it('are kept over SSE, whose address they do not touch', async () => {
    const { url } = fake.endpoint(
      sseScript({
        'tools/call': ({ id }, stream) => {
          const result = '{"content":[],"structuredContent":{"id":9007199254740993}}';
          stream.write(`data: {"jsonrpc":"2.0","id":${String(id)},\ndata: "result":${result}}\n\n`);
        },
      }),
    );
    const { structuredContent } = await callTool(client, url, { server: { transport: 'sse' } });
    assert.deepEqual(String((structuredContent as { id: ExactNumber }).id), '9007199254740993');
  });

  it('answer a request of the server by the id that it has', async () => {
    const endpoint = fake.endpoint({
      'tools/call': ({ id }, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}\n\n');
        void eventually(() => endpoint.bodies.some((body) => body.includes('"id":9007199254740993'))).then(() =>
          response.end(`data: {"jsonrpc":"2.0","id":${String(id)},"result":{"content":[]}}\n\n`),
        );
      },
    });
    await callTool(client, endpoint.url);
  });
});
