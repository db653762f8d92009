// The names of files that browsers store.

const MAX_NAME = 80;

/**
 * Returns the header of an answer that is stored as a file. Old readers get the name in ASCII, others in UTF-8 (RFC 6266).
 * A title cannot name a path or a hidden file, nor end the header.
 */
export function toAttachment(title: string, ending: string): string {
  const name = toFileName(title);
  const ascii = name.replace(/[^A-Za-z0-9 _-]+/g, '').trim();
  const encoded = encodeURIComponent(`${name}.${ending}`);
  return `attachment; filename="${ascii === '' ? 'workflow' : ascii}.${ending}"; filename*=UTF-8''${encoded}`;
}

function toFileName(title: string): string {
  const plain = Array.from(
    title
      .replace(/[^\p{L}\p{N} _-]+/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  const name = plain.slice(0, MAX_NAME).join('').trim();
  return name === '' ? 'workflow' : name;
}
