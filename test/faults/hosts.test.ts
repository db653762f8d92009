import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { reasonToSkip, missingOf } from '../../faults/hosts/programs.js';
import { hostFaults } from '../../faults/hosts/rows.js';
import { toTable } from '../../faults/table.js';
import { startRelay } from '../../harness/hosts/relay.js';
import { isTemporalBuilt } from '../../harness/hosts/temporal-cluster.js';

const MAIN = path.resolve(import.meta.dirname, '../../faults/main.ts');
const OF_ROW = { runs: 60, succeeded: 60, unknown: 0, repeats: 0, recoverySeconds: 1, seconds: 2, violations: [] };

describe('faults of several hosts', function () {
  this.timeout(1_200_000);

  it('have names of their own, and are listed', async () => {
    const names = hostFaults.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    const { stdout } = await faults('--list');
    for (const { name, title } of hostFaults) assert.ok(stdout.includes(`${name} `) && stdout.includes(title), name);
  });

  it('show in the table what they have counted, and other rows have no such column', () => {
    const row = { ...OF_ROW, name: 'cut-api1', title: 'a cut' };
    assert.match(
      toTable([{ ...row, effects: ['12 packets dropped'] }]),
      /\| counted .*\n.*\n.*\| 12 packets dropped \|/,
    );
    assert.doesNotMatch(toTable([{ ...row, effects: [] }]), /counted/);
  });

  it('are skipped with a reason where the machine cannot play them', async () => {
    const command = ['--import', 'tsx', MAIN, '--hosts'];
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      env: { ...process.env, PATH: '/nowhere' },
    });
    assert.match(
      stdout,
      /^SKIPPED: all rows of several hosts, because (network namespaces need|this machine has no) .+\n$/,
    );
  });

  it('are survived on a set of hosts', async function () {
    const lack = reasonToSkip(true) ?? (missingOf(['nft']).length > 0 ? 'this machine has no nft' : undefined);
    if (lack !== undefined) {
      process.stderr.write(`NOT RUN, for ${lack}\n`);
      this.skip();
    }
    const dev = isTemporalBuilt() ? [] : ['--dev-temporal'];
    const { stdout } = await faults('--only', 'cut-worker1', '--runs', '10', '--execution', 'visible', ...dev);
    assert.match(stdout, /1 of 1 faults survived; 10 runs, .*no process left behind/);
    assert.match(stdout, /\| [\d,]+ packets dropped +\|/);
  });

  describe('the relay', () => {
    it('passes bytes on in order, each way later by the delay, and the end of a side too', async () => {
      const echo = net.createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
      await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
      const { port } = echo.address() as net.AddressInfo;
      const relay = await startRelay({ listenOn: '127.0.0.1', to: { host: '127.0.0.1', port }, delayMs: 50 });
      const sent = Array.from({ length: 500 }, (_, index) => `${index};`);
      const startedAt = performance.now();
      const socket = net.connect(relay.port, '127.0.0.1');
      for (const text of sent) socket.write(text);
      socket.end();
      let received = '';
      for await (const bytes of socket) received += String(bytes);
      assert.equal(received, sent.join(''));
      assert.ok(performance.now() - startedAt >= 2 * 50);
      assert.equal(relay.connections(), 1);
      relay.close();
      echo.close();
    });
  });
});

function faults(...args: string[]): Promise<{ stdout: string }> {
  const command = ['--import', 'tsx', MAIN, '--hosts', ...args];
  return promisify(execFile)(process.execPath, command, { maxBuffer: 16 * 1024 * 1024 });
}
