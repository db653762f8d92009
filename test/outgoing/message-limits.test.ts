import assert from 'node:assert/strict';
import { McpError } from '../../outgoing/mcp-error.js';
import { limitBody, limitEvents, type StreamEnd } from '../../outgoing/message-limits.js';

const MIB = 1024 * 1024;

function streamOf(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      controller.close();
    },
  });
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of stream as unknown as AsyncIterable<Uint8Array>) parts.push(Buffer.from(part).toString());
  return parts;
}

async function readEvents(...chunks: (string | Uint8Array)[]): Promise<{ parts: string[]; ends: StreamEnd[] }> {
  const ends: StreamEnd[] = [];
  return { parts: await readAll(limitEvents(streamOf(...chunks), (end) => ends.push(end))), ends };
}

async function isResumable(...chunks: string[]): Promise<boolean> {
  return (await readEvents(...chunks)).ends[0]!.isResumable;
}

describe('limits of MCP messages', () => {
  it('hand events on whole, however they are cut and whatever ends their lines', async () => {
    for (const text of ['data: a\n\ndata: b\n\n', 'data: a\r\n\r\ndata: b\r\n\r\n', 'data: a\r\rdata: b\r\r']) {
      const whole = await readEvents(text);
      assert.deepEqual(whole.parts, [text]);
      const bytes = await readEvents(...Array.from(text));
      assert.equal(bytes.parts.join(''), text);
      assert.match(bytes.parts[0]!, /^data: a(\n\n|\r\n\r\n?|\r\r)$/);
    }
  });

  it('keep back what never becomes an event, and say how the stream ended', async () => {
    const { parts, ends } = await readEvents('data: a\n\ndata: ha', 'lf');
    assert.deepEqual(parts, ['data: a\n\n']);
    assert.deepEqual(ends, [{ error: undefined, isResumable: false }]);
  });

  it('know a stream that can be resumed by the ids of its events', async () => {
    assert.equal(await isResumable('data: 1\ni', 'd: 7\n\n'), true);
    assert.equal(await isResumable('id:\n\n'), true);
    assert.equal(await isResumable('data: id: 7\nidea: x\nxid: 1\n\n'), false);
  });

  it('break a stream whose event grows beyond 10 MiB, at once and whatever its pieces', async () => {
    for (const size of [MIB, 16 * 1024]) {
      const ends: StreamEnd[] = [];
      let given = 0;
      const endless = new ReadableStream<Uint8Array>({
        pull(controller) {
          given += size;
          controller.enqueue(Buffer.alloc(size, 'x'));
        },
      });
      await assert.rejects(readAll(limitEvents(endless, (end) => ends.push(end))), { code: 'response_too_large' });
      assert.ok(given <= 12 * MIB);
      assert.equal(ends[0]!.error?.code, 'response_too_large');
    }
  });

  it('hand a body of 10 MiB on in one piece, however small its pieces, and take no byte more', async () => {
    const piece = Buffer.alloc(1024, 'x');
    const pieces = (last: string): ReadableStream<Uint8Array> => {
      let left = (10 * MIB) / piece.length;
      return new ReadableStream({
        pull(controller) {
          if (left-- > 0) return controller.enqueue(piece);
          if (last !== '') controller.enqueue(Buffer.from(last));
          controller.close();
        },
      });
    };
    const [body] = await readAll(limitBody(pieces('')));
    assert.equal(body!.length, 10 * MIB);
    await assert.rejects(readAll(limitBody(pieces('x'))), McpError);
  });

  it('say that a connection broke instead of what the network said', async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('secret details')) });
    await assert.rejects(readAll(limitBody(broken)), { code: 'mcp_unreachable', message: /before it had answered/ });
  });
});
