import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { needPrograms } from '../support/programs.js';
import { sharedStack } from '../support/shared-stack.js';
import { execute, mustRun, personsEnvironment } from '../support/shell.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';

const FOLDER = path.resolve(import.meta.dirname, '../../examples/python');

describe('the Python example', function () {
  this.timeout(120_000);

  beforeEach(function () {
    needPrograms(this, 'python3');
  });

  describe('run_workflow.py', () => {
    let stack: TestStack;
    let tools: ToolServer;

    before(async () => {
      stack = await sharedStack();
      tools = await startToolServer();
    });
    after(() => tools?.close());

    async function runExample(...options: string[]): Promise<string> {
      const model = `python-example-${randomUUID()}`;
      const call = { name: 'add', arguments: { a: 2, b: 3 } };
      stack.modelProvider.script(model, ({ messages, body }) => {
        const isAgent = body['tools'] !== undefined;
        return isAgent && messages.every(({ role }) => role !== 'tool') ? { toolCalls: [call] } : { text: 'done' };
      });
      const env = personsEnvironment({ API_URL: stack.apiUrl, API_KEY: stack.apiKey, PYTHONDONTWRITEBYTECODE: '1' });
      const args = ['run_workflow.py', '--tools', tools.url, '--model', model, ...options];
      return mustRun('python3', args, { cwd: FOLDER, env });
    }

    it('runs a workflow once, approves what its agent asks, and prints results and cost', async () => {
      const output = await runExample();
      assert.match(output, /^asked for add \{'a': 2, 'b': 3\}\ndecided approved$/m);
      assert.match(output, /^Greet: succeed: done$/m);
      assert.match(output, /^Clerk: succeed: done$/m);
      assert.match(output, /^cost 0\.00006 USD = /m);
      assert.match(output, /^status succeed$/m);
      assert.equal(tools.callsOf('add').length, 1);
    });

    it('rejects when it is told to: the tool is not called', async () => {
      const before = tools.callsOf('add').length;
      assert.match(await runExample('--reject'), /^decided rejected$/m);
      assert.equal(tools.callsOf('add').length, before);
    });

    it('ends with the error of the service where there is one', async () => {
      const env = personsEnvironment({ API_URL: stack.apiUrl, API_KEY: 'wfa_wrong', PYTHONDONTWRITEBYTECODE: '1' });
      const args = ['run_workflow.py', '--tools', tools.url];
      const { code, stderr } = await execute('python3', args, { cwd: FOLDER, env });
      assert.equal(code, 1);
      assert.equal(stderr.trim(), 'ServiceError: 401 authentication_failed: Invalid API key.');
    });
  });

  describe('workflow_client.py', () => {
    let target: HttpTarget;

    beforeEach(async () => {
      target = await startHttpTarget();
    });
    afterEach(() => target?.close());

    const json = { 'content-type': 'application/json' };

    async function call(expression: string, expected = 'ServiceError, OSError'): Promise<string> {
      const program = `from workflow_client import *\nclient = WorkflowClient("${target.url}", "k", attempts=3)\ntry:\n    print(${expression})\nexcept (${expected}) as error:\n    print(type(error).__name__, getattr(error, "code", ""), getattr(error, "fields", ""))`;
      const env = personsEnvironment({ PYTHONDONTWRITEBYTECODE: '1' });
      return (await mustRun('python3', ['-c', program], { cwd: FOLDER, env })).trim();
    }

    it('repeats any request after 429, and starts of runs over broken connections with one key', async () => {
      const throttled = {
        status: 429,
        headers: { ...json, 'retry-after': '0' },
        body: { detail: 'x', code: 'throttled' },
      };
      target.on('/p', [throttled, { headers: json, body: { id: 1 } }]);
      assert.equal(await call('client.post("/p", {"name": "x"})'), "{'id': 1}");
      const accepted = { headers: json, body: { status: 201, data: { id: 'r', status: 'in queue', data: null } } };
      target.on('/api/v1/workflows/7/run/', [{ reset: true }, { status: 502, body: '<h1>x</h1>' }, accepted]);
      assert.equal(await call('client.start_run(7, {})'), 'r');
      const starts = target.requestsTo('/api/v1/workflows/7/run/');
      assert.equal(starts.length, 3);
      assert.equal(new Set(starts.map(({ headers }) => headers['idempotency-key'])).size, 1);
    });

    it('does not repeat a POST that may have been done, nor what is wrong', async () => {
      target.on('/p', { reset: true });
      assert.match(await call('client.post("/p", {})'), /^(RemoteDisconnected|ConnectionResetError|URLError)/);
      assert.equal(target.requests.length, 1);
      target.on('/p', { status: 400, headers: json, body: { name: ['This field is required.'] } });
      assert.equal(await call('client.post("/p", {})'), "ServiceError invalid {'name': ['This field is required.']}");
      assert.equal(target.requests.length, 2);
    });

    it('knows a webhook by its signature, as the library of the standard writes it', async () => {
      const secret = `whsec_${Buffer.from('a secret of thirty-two bytes....').toString('base64')}`;
      const body = '{"type": "workflow_run.succeeded"}';
      const sign = (id: string, at: Date): Record<string, string> => ({
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': `v1,AAAA ${new Webhook(secret).sign(id, at, body)}`,
      });
      const verify = async (headers: object, text = body): Promise<string> => {
        const given = `verify_webhook("${secret}", ${JSON.stringify(headers)}, ${JSON.stringify(text)}.encode())`;
        return call(given, 'ValueError');
      };
      const now = new Date();
      assert.equal(await verify(sign('msg_1', now)), "{'type': 'workflow_run.succeeded'}");
      assert.match(await verify(sign('msg_1', now), `${body} `), /^ValueError/);
      assert.match(await verify({ ...sign('msg_1', now), 'webhook-id': 'msg_2' }), /^ValueError/);
      assert.match(await verify(sign('msg_1', new Date(now.getTime() - 400_000))), /^ValueError/);
      assert.match(await verify({}), /^ValueError/);
    });

    it('takes its key to no other host', async () => {
      const other = await startHttpTarget();
      try {
        target.on('/p', { status: 302, headers: { location: `${other.url}/p` } });
        assert.match(await call('client.get("/p")'), /^ServiceError/);
        assert.equal(other.requests.length, 0);
      } finally {
        await other.close();
      }
    });

    it('gives up where it would have to wait too long', async () => {
      target.on('/p', {
        status: 503,
        headers: { ...json, 'retry-after': '3600' },
        body: { detail: 'x', code: 'overloaded' },
      });
      assert.match(await call('client.get("/p")'), /^ServiceError overloaded/);
      assert.equal(target.requests.length, 1);
    });
  });
});
