// Extracts the text of files: of PDF, DOCX and XLSX with parsers, of other files by their encoding (docs/use/files.md).
import { fileKindOf } from '../../files/file-kind.js';
import { textOfBytes } from '../../outgoing/text-of-bytes.js';
import { DOCUMENT_LIMITS, type Processes, type WorkOptions } from '../../processes/processes.js';
import type { FileValue } from '../../graph/file-values.js';
import { NodeFailure } from '../node/failures.js';

interface Source extends Pick<WorkOptions, 'outside'> {
  file: Pick<FileValue, 'name' | 'type'>;
  projectId: number;
  signal: AbortSignal;
}

export interface DocumentTexts {
  /**
   * Returns the text of the file, which may be empty. Throws `invalid_document` if the document is broken or encrypted,
   * or in a format before DOCX and XLSX; `file_encoding` if the file is not text in its encoding; `file_too_large` if a
   * document is too long, or takes too much time or memory to read; and the errors of `Processes.run`.
   */
  textOf(bytes: Buffer, source: Source): Promise<string>;
}

const READ_WITHIN_MS = 30_000;

export function createDocumentTexts(processes: Processes): DocumentTexts {
  return {
    async textOf(bytes, { file: { name, type }, projectId: owner, signal, outside }) {
      const { kind } = fileKindOf(bytes);
      const failed = (code: string, what: string): NodeFailure => {
        return new NodeFailure(code, `The document ${JSON.stringify(name)} ${what}.`);
      };
      if (kind === 'old_office') {
        throw failed('invalid_document', 'is encrypted, or of a format before DOCX and XLSX');
      }
      if (kind !== 'pdf' && kind !== 'docx' && kind !== 'xlsx') {
        const { text, encoding, isExact } = await textOfBytes(bytes, type);
        if (isExact) return text;
        const problem =
          encoding === undefined ? 'its encoding cannot be told' : `it is not in its encoding, ${encoding}`;
        throw new NodeFailure('file_encoding', `The file ${JSON.stringify(name)} cannot be read as text: ${problem}.`);
      }
      const work = { kind: 'document', format: kind, bytes } as const;
      const reply = await processes.run(work, { owner, signal, limitMs: READ_WITHIN_MS, outside });
      if (reply?.kind === 'text') return reply.text;
      if (reply?.kind === 'failed') throw failed(reply.code, reply.message);
      const limits = `${READ_WITHIN_MS / 1000} s or ${DOCUMENT_LIMITS.residentMb} MiB of memory`;
      throw failed('file_too_large', `takes more than ${limits} to read`);
    },
  };
}
