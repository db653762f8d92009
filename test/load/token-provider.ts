// A model provider that writes 100 tokens a second. Each token is the time at which it was sent. The provider is a
// process of its own, so that only a slow machine delays it. The name of a model ends in the number of its tokens.
import { startHttpServer } from '../../cli/sandbox/http-server.js';

const EVERY_MS = 10;

const speaking = new Set<() => void>();
setInterval(() => {
  for (const speak of speaking) speak();
}, EVERY_MS);

const server = await startHttpServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const { model, stream } = JSON.parse(Buffer.concat(chunks).toString()) as { model: string; stream?: boolean };
  let left = Number(model.split('-').at(-1));
  const usage = { prompt_tokens: 10, completion_tokens: left, total_tokens: left + 10 };
  const head = { id: 'load', created: 1, model };
  const send = (fields: object): void => {
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })}\n\n`);
  };
  const said: string[] = [];
  if (stream === true) response.writeHead(200, { 'content-type': 'text/event-stream' });
  const speak = (): void => {
    left -= 1;
    const content = `${Date.now()} `;
    if (stream === true) send({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    else said.push(content);
    if (left > 0) return;
    speaking.delete(speak);
    if (stream === true) {
      send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      send({ choices: [], usage });
      response.end('data: [DONE]\n\n');
      return;
    }
    const message = { role: 'assistant', content: said.join('') };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
  };
  speaking.add(speak);
  response.once('close', () => speaking.delete(speak));
});
process.send?.(server.url);
process.once('disconnect', () => process.exit(0));
