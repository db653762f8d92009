import { cutText } from '../../../graph/cut-text.js';

/** Returns a file name without characters that a file system may refuse. */
export function toFileName(label: string, ending: 'csv' | 'json' | 'md' | 'txt'): string {
  const plain = label.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '');
  return `${cutText(plain, 80) || 'result'}.${ending}`;
}
