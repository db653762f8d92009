// Downloads the archive that the SDK's test environment uses. A small JSON document names the archive for this
// machine, a tar.gz with the program.
import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

interface DownloadOptions {
  report: (line: string) => void;
  signal: AbortSignal;
}

interface ArchiveInfo {
  archiveUrl: string;
  fileToExtract: string;
}

/** The limit for that JSON document. Many build machines cannot reach the host. */
const INFO_TIMEOUT_MS = 6_000;
/** A transfer fails if nothing arrives for this long, however slow it is otherwise. */
const STALLED_AFTER_MS = 20_000;
const REPORT_EVERY_MS = 2_000;

/** The SHA-256 of each archive, from `checksums.txt` of the release: version -> platform and processor -> hex. */
export const ARCHIVE_HASHES: Record<string, Record<string, string>> = {
  'v1.5.1': {
    linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
    linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
    darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
    darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
  },
};

/**
 * Writes the program to `target` atomically. Rejects if the host cannot be reached or the archive does not
 * have its pinned hash.
 */
export async function downloadTemporal(version: string, target: string, options: DownloadOptions): Promise<void> {
  const { platform } = process;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const expected = ARCHIVE_HASHES[version]?.[`${platform}_${arch}`];
  if (expected === undefined) throw new Error(`no SHA-256 of ${version} for ${platform} on ${arch} is known`);
  const query = new URLSearchParams({ platform, arch, format: 'tar.gz' });
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(INFO_TIMEOUT_MS)]);
  const answer = await fetch(`https://temporal.download/cli/${version}?${query.toString()}`, { signal });
  if (!answer.ok) throw new Error(`the download server answered ${answer.status}`);
  const { archiveUrl, fileToExtract } = (await answer.json()) as ArchiveInfo;
  const archive = await fetchAll(archiveUrl, options);
  const actual = createHash('sha256').update(archive).digest('hex');
  if (actual !== expected) throw new Error(`the archive has the SHA-256 ${actual} instead of ${expected}`);
  const program = extractTarEntry(gunzipSync(archive), fileToExtract);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, program, { mode: 0o755 });
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}

async function fetchAll(url: string, { report, signal }: DownloadOptions): Promise<Buffer> {
  const stalled = new AbortController();
  const watchdog = setTimeout(() => stalled.abort(new Error('the download stalled')), STALLED_AFTER_MS);
  try {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, stalled.signal]) });
    if (!answer.ok || answer.body === null) throw new Error(`the download server answered ${answer.status}`);
    const totalMib = Number(answer.headers.get('content-length') ?? 0) / 2 ** 20;
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    let reportedAt = 0;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      watchdog.refresh();
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (Date.now() - reportedAt < REPORT_EVERY_MS) continue;
      reportedAt = Date.now();
      report(`Temporal server: downloading, ${(sizeBytes / 2 ** 20).toFixed(0)} of ${totalMib.toFixed(0)} MiB`);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(watchdog);
  }
}

const BLOCK_BYTES = 512;

function extractTarEntry(tar: Buffer, name: string): Buffer {
  for (let offset = 0; offset + BLOCK_BYTES <= tar.length;) {
    const text = (start: number, length: number): string =>
      tar.toString('latin1', offset + start, offset + start + length).split('\0', 1)[0]!;
    const sizeBytes = Number.parseInt(text(124, 12), 8) || 0;
    const contents = offset + BLOCK_BYTES;
    if (text(0, 100).replace(/^\.\//, '') === name) return tar.subarray(contents, contents + sizeBytes);
    offset = contents + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
  }
  throw new Error(`the downloaded archive holds no file ${name}`);
}
