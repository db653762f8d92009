// Downloads the Temporal CLI from the server that the SDK's test environment uses, too. There, a small JSON document
// names the archive for this machine, a tar.gz with the program.
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

const MIB = 2 ** 20;
export const DOWNLOAD_LIMITS = {
  /** For the JSON document. Short, because many build machines cannot reach the host. */
  infoMs: 6_000,
  infoBytes: 64 * 1024,
  /** The transfer of the archive fails if nothing arrives for this long. */
  stalledMs: 20_000,
  /** The limit on the archive, which is held in memory as a whole: six times its present size. */
  archiveBytes: 300 * MIB,
};
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
export async function downloadTemporal(
  version: string,
  target: string,
  options: DownloadOptions,
  limits = DOWNLOAD_LIMITS,
): Promise<void> {
  const { platform } = process;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const expected = ARCHIVE_HASHES[version]?.[`${platform}_${arch}`];
  if (expected === undefined) throw new Error(`no SHA-256 of ${version} for ${platform} on ${arch} is known`);
  const query = new URLSearchParams({ platform, arch, format: 'tar.gz' });
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(limits.infoMs)]);
  const answer = await fetch(`https://temporal.download/cli/${version}?${query.toString()}`, { signal });
  if (!answer.ok) throw new Error(`the download server answered ${answer.status}`);
  const info = await readAtMost(answer, limits.infoBytes, () => undefined);
  const { archiveUrl, fileToExtract } = JSON.parse(info.toString()) as ArchiveInfo;
  const archive = await fetchArchive(archiveUrl, options, limits);
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

async function fetchArchive(
  url: string,
  { report, signal }: DownloadOptions,
  { stalledMs, archiveBytes }: typeof DOWNLOAD_LIMITS,
): Promise<Buffer> {
  const stalled = new AbortController();
  const error = new Error(`the download stalled: nothing has come for ${stalledMs / 1000} s`);
  const watchdog = setTimeout(() => stalled.abort(error), stalledMs);
  try {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, stalled.signal]) });
    if (!answer.ok) throw new Error(`the download server answered ${answer.status}`);
    const totalMib = Number(answer.headers.get('content-length') ?? 0) / MIB;
    const ofTotal = totalMib > 0 ? ` of ${totalMib.toFixed(0)}` : '';
    let reportedAt = 0;
    return await readAtMost(answer, archiveBytes, (sizeBytes) => {
      watchdog.refresh();
      if (Date.now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = Date.now();
      report(`Temporal server: downloading, ${(sizeBytes / MIB).toFixed(0)}${ofTotal} MiB`);
    });
  } finally {
    clearTimeout(watchdog);
  }
}

/** Rejects as soon as more than `mostBytes` have arrived or are announced. Leaving the loop closes the connection. */
async function readAtMost(answer: Response, mostBytes: number, onBytes: (sizeBytes: number) => void): Promise<Buffer> {
  const tooLarge = (): Error => new Error(`the answer is larger than ${mostBytes} bytes`);
  if (answer.body === null) return Buffer.alloc(0);
  if (Number(answer.headers.get('content-length')) > mostBytes) {
    await answer.body.cancel();
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > mostBytes) throw tooLarge();
    onBytes(sizeBytes);
  }
  return Buffer.concat(chunks);
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
