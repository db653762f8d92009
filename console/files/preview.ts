// Decides from the bytes of a file how to preview it. The file's name and declared type only decide whether a text is
// shown as a table. Executes nothing: markup, including SVG and HTML, is shown as text.
import { api, unwrap } from '../service/api.js';
import type { FileValue } from '../service/file-value.js';

const HEAD_BYTES = 64 * 1024;
/** Larger images, recordings and PDFs are only previewed on request. */
const AT_ONCE_BYTES = 8 * 1024 * 1024;
/** A preview of these kinds holds all bytes in memory, so larger ones can only be downloaded. */
const MOST_BYTES = 32 * 1024 * 1024;
const SHOWN_ROWS = 50;

export type Preview =
  | { kind: 'image' | 'audio' | 'pdf'; blob: Blob }
  | { kind: 'text'; text: string; isWhole: boolean }
  | { kind: 'table'; rows: string[][]; isWhole: boolean }
  /** Can be previewed, but is large, so the person must ask for the preview. */
  | { kind: 'large' }
  | { kind: 'none' };

export async function readPreview(file: FileValue, isWanted: boolean, signal: AbortSignal): Promise<Preview> {
  if (file.size === 0) return { kind: 'none' };
  const head = await readBytes(file, signal, HEAD_BYTES);
  const type = mediaTypeOf(head);
  if (type !== undefined) {
    if (file.size > MOST_BYTES) return { kind: 'none' };
    if (file.size > AT_ONCE_BYTES && !isWanted) return { kind: 'large' };
    // `size` is what the value says, which may be wrong, so the request also limits the bytes to read.
    const bytes = file.size > head.length ? await readBytes(file, signal, MOST_BYTES) : head;
    return { kind: kindOf(type), blob: new Blob([bytes], { type }) };
  }
  const isWhole = head.length === file.size;
  const text = textOf(head, isWhole);
  if (text === undefined) return { kind: 'none' };
  if (!/\.(?:csv|tsv)$/i.test(file.name) && !/^text\/(?:csv|tab-separated-values)\b/.test(file.type)) {
    return { kind: 'text', text, isWhole };
  }
  const { default: papaparse } = await import('papaparse');
  const { data } = papaparse.parse<string[]>(text, { preview: SHOWN_ROWS + 1, skipEmptyLines: true });
  return { kind: 'table', rows: data.slice(0, SHOWN_ROWS), isWhole: isWhole && data.length <= SHOWN_ROWS };
}

async function readBytes(file: FileValue, signal: AbortSignal, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const path = { file_id: file.file_id };
  const header = { Range: `bytes=0-${most - 1}` };
  const options = { params: { path, header }, parseAs: 'arrayBuffer', signal } as const;
  const bytes: unknown = await unwrap(api.GET('/api/v1/files/{file_id}/content/', options));
  return new Uint8Array(bytes as ArrayBuffer);
}

/* oxlint-disable no-control-regex */
/** Magic numbers of the types that browsers can display. One character stands for one byte. */
const SIGNS: readonly (readonly [sign: RegExp, type: string])[] = [
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[^]{4}WEBP/, 'image/webp'],
  [/^[^]{4}ftypavi[fs]/, 'image/avif'],
  [/^BM[^]{4}\0{4}/, 'image/bmp'],
  [/^RIFF[^]{4}WAVE/, 'audio/wav'],
  [/^OggS/, 'audio/ogg'],
  [/^fLaC/, 'audio/flac'],
  [/^[^]{4}ftypM4[AB]/, 'audio/mp4'],
  [/^(?:ID3|\xff[\xfb\xf3\xf2])/, 'audio/mpeg'],
  [/^%PDF-/, 'application/pdf'],
];
/* oxlint-enable no-control-regex */

/** Returns the MIME type of an image, a recording or a PDF; undefined for anything else. */
function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  return SIGNS.find(([sign]) => sign.test(head))?.[1];
}

function kindOf(type: string): 'image' | 'audio' | 'pdf' {
  if (type === 'application/pdf') return 'pdf';
  return type.startsWith('audio/') ? 'audio' : 'image';
}

/** Returns undefined if the bytes are not UTF-8 text. Omits a character that is cut at the end. */
function textOf(bytes: Uint8Array, isWhole: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
    // oxlint-disable-next-line no-control-regex
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
