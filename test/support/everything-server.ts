// The official reference server of the protocol, as a child process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { claimPort } from '../../cli/embedded/ports.js';
import { eventually } from '../../harness/timing/eventually.js';

export interface EverythingServer {
  /** The address of the MCP endpoint. */
  url: string;
  /** The text that it printed: one line for each request and session. */
  output: () => string;
  close: () => Promise<void>;
}

export async function startEverythingServer(transport: 'sse' | 'streamableHttp'): Promise<EverythingServer> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
  const port = await claimPort({ port: 0, host: '127.0.0.1', variable: 'PORT' });
  const child = spawn(process.execPath, [path.join(path.dirname(manifest), 'dist/index.js'), transport], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`the server did not start:\n${text}`);
    return /on port \d+/.test(text);
  });
  return {
    url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    output: () => text,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'close');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
