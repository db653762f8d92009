// The tokens at which the files of a prompt are reserved. Extensions, section 12.

const TOKENS_OF_IMAGE = 2_000;
const PDF_BYTES_PER_TOKEN = 6;

/** A message of a chat completion. */
interface Message {
  content?: unknown;
}

interface Weighed {
  /** The messages without the bytes of their files. */
  messages: unknown[];
  /** What the files are reserved at. */
  tokens: number;
}

/** Takes the bytes of images and PDF out of messages: their base64 is no text that a model reads. */
export function weighFiles(messages: readonly Message[]): Weighed {
  let tokens = 0;
  const withoutBytes = (part: unknown): unknown => {
    const { type, file } = (part ?? {}) as { type?: unknown; file?: { filename?: unknown; file_data?: unknown } };
    if (type === 'image_url') {
      tokens += TOKENS_OF_IMAGE;
      return { type };
    }
    if (type !== 'file' || typeof file?.file_data !== 'string') return part;
    tokens += Math.ceil(base64Bytes(file.file_data) / PDF_BYTES_PER_TOKEN);
    return { type, file: { filename: file.filename } };
  };
  const weighed = messages.map((message) => {
    return Array.isArray(message.content) ? { ...message, content: message.content.map(withoutBytes) } : message;
  });
  return { messages: weighed, tokens };
}

function base64Bytes(dataUri: string): number {
  const start = dataUri.indexOf(',') + 1;
  const padding = dataUri.endsWith('==') ? 2 : dataUri.endsWith('=') ? 1 : 0;
  return ((dataUri.length - start) / 4) * 3 - padding;
}
