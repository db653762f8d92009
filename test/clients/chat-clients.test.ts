// A workflow with an agent and an approval, in clients and front ends that know nothing of workflows: the official
// clients of two languages, the AI SDK, a chat in a browser and a chat in a terminal. docs/use/api.md.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { freePort } from '../../harness/processes/free-port.js';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { createAccount, type Account } from '../api/accounts.js';
import { sharedBrowser } from '../support/browser.js';
import { startFakeMcpServer, type FakeMcpServer } from '../support/fake-mcp-server.js';
import { agent, drawing, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { needPrograms } from '../support/programs.js';
import { sharedStack } from '../support/shared-stack.js';
import { mustRun, personsEnvironment } from '../support/shell.js';
import type { TestStack } from '../../harness/stack/stack.js';

const REQUEST = /May the tool `echo` be called[\s\S]+\/inbox\/(\S+) /;

const OPENAI_PROGRAM = `
import json, sys, openai
base_url, key, model, words = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=key)
assert model in [listed.id for listed in client.models.list()]
ask = dict(model=model, messages=[{"role": "user", "content": words}])
whole = client.chat.completions.create(**ask)
text, usage = "", None
for chunk in client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
    text += "".join(choice.delta.content or "" for choice in chunk.choices)
    usage = chunk.usage or usage
try:
    client.chat.completions.create(model="workflow:0", messages=ask["messages"])
except openai.NotFoundError as error:
    code = error.code
print(json.dumps({"whole": whole.choices[0].message.content, "used": whole.usage.total_tokens, "text": text,
                  "usage": usage.total_tokens, "code": code}))
`;

const GRADIO_PROGRAM = `
import sys, gradio
base_url, key, model, port = sys.argv[1:]
gradio.load_chat(base_url, model=model, token=key).launch(server_name="127.0.0.1", server_port=int(port), quiet=True)
`;

/** Runs the program in a terminal of its own, as a user does. */
const IN_A_TERMINAL = `import pty, os, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))`;

describe('a workflow in clients of the chat-completion protocol', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let tools: FakeMcpServer;
  let folder: string;
  let model: string;
  let baseUrl: string;

  before(async () => {
    stack = await sharedStack();
    [account, tools] = await Promise.all([createAccount(stack), startFakeMcpServer()]);
    folder = await mkdtemp(path.join(tmpdir(), 'chat-clients-'));
    baseUrl = `${stack.apiUrl}/v1`;
    const server = { endpoint_url: tools.endpoint().url };
    const helper = agent('{{ input.message }}', { model_name: 'chat-clients' }, [server]);
    const id = await account.api.createWorkflow(
      await account.api.createProject(),
      drawing(linkInRow([trigger(), helper])),
    );
    await account.api.patch(`/workflows/${id}/`, { body: { is_chat: true } });
    model = `workflow:${id}`;
    // The agent calls its tool if the message asks for it, and reports the result.
    stack.modelProvider.script('chat-clients', ({ messages }) => {
      const last = messages.at(-1)!;
      const words = String(messages.find(({ role }) => role === 'user')?.content);
      if (last.role === 'tool') return { text: `The tool said ${String(last.content)}` };
      return words.includes('the tool')
        ? { toolCalls: [{ name: 'echo', arguments: { words } }] }
        : { text: `You said: ${words}` };
    });
  });
  after(async () => {
    await tools.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Approves the request in the answer as a person does; the run goes on without the client. */
  async function approve(answer: string): Promise<void> {
    const requestId = REQUEST.exec(answer)?.[1];
    assert.ok(requestId, answer);
    const asked = await account.api.get<{ run_id: string }>(`/agent-approvals/${requestId}/`);
    const { run_id: runId } = asked.body;
    await account.api.post(`/workflows/workflow_run/${runId}/agent-approval/${requestId}/approve/`);
    const { data } = await account.api.pollToEnd(runId);
    assert.equal(data.status, 'succeed');
    assert.match(JSON.stringify(data.data), /The tool said/);
  }

  it('the official client of JavaScript asks, is asked for an approval, and the run goes on', async () => {
    const openai = new OpenAI({ baseURL: baseUrl, apiKey: account.apiKey });
    const ask = async (content: string): Promise<string> => {
      const answer = await openai.chat.completions.create({ model, messages: [{ role: 'user', content }] });
      return answer.choices[0]!.message.content!;
    };
    assert.equal(await ask('Hello'), 'You said: Hello');
    await approve(await ask('Take the tool'));
    let text = '';
    for await (const chunk of await openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Again' }],
      stream: true,
    })) {
      text += chunk.choices[0]?.delta.content ?? '';
    }
    assert.equal(text, 'You said: Again');
  });

  it('the provider of the AI SDK for chat completions does the same, whole and as a stream', async () => {
    const { generateText, streamText } = await import('ai');
    const provider = createOpenAICompatible({
      name: 'workflows',
      baseURL: baseUrl,
      apiKey: account.apiKey,
      includeUsage: true,
    });
    const { text, usage } = await generateText({ model: provider(model), prompt: 'Hello' });
    assert.deepEqual([text, usage.totalTokens], ['You said: Hello', 15]);
    const streamed = streamText({ model: provider(model), prompt: 'Take the tool' });
    let words = '';
    for await (const piece of streamed.textStream) words += piece;
    await approve(words);
    assert.equal((await streamed.usage).totalTokens, 15);
  });

  describe('of Python', function () {
    this.timeout(600_000);
    let python: string;

    before(async function () {
      needPrograms(this, 'python3');
      await mustRun('python3', ['-m', 'venv', path.join(folder, 'venv')], { cwd: folder });
      python = path.join(folder, 'venv/bin/python');
      const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'openai', 'llm', 'gradio'];
      await mustRun(python, install, { cwd: folder, timeoutMs: 540_000 });
    });

    it('the official client asks whole and as a stream, and knows the error of an unknown model', async () => {
      const run = (words: string) =>
        mustRun(python, ['-c', OPENAI_PROGRAM, baseUrl, account.apiKey, model, words], { cwd: folder });
      const told = { whole: 'You said: Hello', used: 15, text: 'You said: Hello', usage: 15, code: 'model_not_found' };
      assert.deepEqual(JSON.parse(await run('Hello')), told);
      const asked = JSON.parse(await run('Take the tool')) as Record<string, string>;
      await approve(asked['whole']!);
      await approve(asked['text']!);
    });

    it('llm talks to it in a terminal', async () => {
      const models = [{ model_id: 'flow', model_name: model, api_base: baseUrl, api_key_name: 'flow' }];
      await writeFile(path.join(folder, 'extra-openai-models.yaml'), JSON.stringify(models));
      await writeFile(path.join(folder, 'keys.json'), JSON.stringify({ flow: account.apiKey }));
      const env = personsEnvironment({ LLM_USER_PATH: folder, TERM: 'xterm' });
      const llm = path.join(folder, 'venv/bin/llm');
      const say = async (words: string): Promise<string> =>
        (await mustRun(python, ['-c', IN_A_TERMINAL, llm, '-m', 'flow', words], { cwd: folder, env })).trim();
      assert.equal(await say('Hello'), 'You said: Hello');
      await approve((await say('Take the tool')).replaceAll('\r', ''));
    });

    it("gradio's load_chat talks to it in a browser", async () => {
      const port = await freePort();
      const server = spawn(python, ['-c', GRADIO_PROGRAM, `${baseUrl}/`, account.apiKey, model, String(port)], {
        cwd: folder,
        env: personsEnvironment({ GRADIO_ANALYTICS_ENABLED: 'False', HF_HUB_OFFLINE: '1', NO_COLOR: '1' }),
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      const browser = await sharedBrowser();
      const context = await browser.newContext();
      try {
        const page = await openChat(await context.newPage(), `http://127.0.0.1:${port}/`, server);
        const say = async (words: string, answer: RegExp): Promise<string> => {
          await page.getByRole('textbox').last().fill(words);
          await page.keyboard.press('Enter');
          const told = page.getByRole('log').getByText(answer).last();
          await told.waitFor();
          return page.getByRole('log').innerText();
        };
        await say('Hello', /You said: Hello/);
        const asked = await say('Take the tool', /goes on when this is done/);
        const requestId = /\/inbox\/([\w-]+)/.exec(asked)?.[1];
        await approve(`May the tool \`echo\` be called /inbox/${requestId} `);
      } finally {
        await context.close();
        server.kill('SIGKILL');
      }
    });
  });
});

async function openChat(page: Page, url: string, server: ChildProcess): Promise<Page> {
  const deadline = performance.now() + 90_000;
  page.setDefaultTimeout(30_000);
  while (
    !(await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (server.exitCode !== null || performance.now() > deadline) throw new Error('the front end did not start');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  await page.getByRole('textbox').last().waitFor();
  return page;
}
