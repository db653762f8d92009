// Estimates the tokens to reserve for the files of a prompt.

const TOKENS_OF_IMAGE = 2_000;
const PDF_BYTES_PER_TOKEN = 6;
/** A second of sound is about 30 tokens, and 4,000 bytes if it is well compressed. */
const AUDIO_BYTES_PER_TOKEN = 100;

interface Message {
  content?: unknown;
}

interface FilePart {
  type?: unknown;
  file?: { filename?: unknown; file_data?: unknown };
  input_audio?: { data?: unknown; format?: unknown };
}

interface Weighed {
  /** The messages without the bytes of their files. */
  messages: unknown[];
  tokens: number;
}

/**
 * Removes the bytes of images, PDF and sound from messages and estimates their tokens, because a model does not read
 * their base64 as text.
 */
export function weighFiles(messages: readonly Message[]): Weighed {
  let tokens = 0;
  const withoutBytes = (part: unknown): unknown => {
    const { type, file, input_audio: audio } = (part ?? {}) as FilePart;
    if (type === 'image_url') {
      tokens += TOKENS_OF_IMAGE;
      return { type };
    }
    if (type === 'input_audio' && typeof audio?.data === 'string') {
      tokens += Math.ceil(base64Bytes(audio.data) / AUDIO_BYTES_PER_TOKEN);
      return { type, input_audio: { format: audio.format } };
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

/** Returns the number of bytes that base64 text, or a data URI, encodes. */
function base64Bytes(text: string): number {
  const start = text.indexOf(',') + 1;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return ((text.length - start) / 4) * 3 - padding;
}
