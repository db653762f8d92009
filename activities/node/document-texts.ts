// The texts of files: of PDF, DOCX and XLSX what their parsers find, of others their characters. Extensions, section 12.
import { decodeText, fileKindOf } from '../../files/file-kind.js';
import { DOCUMENT_LIMITS, type Processes } from '../../processes/processes.js';
import { NodeFailure } from './failures.js';

interface Asked {
  /** The name of the file. */
  name: string;
  projectId: number;
  signal: AbortSignal;
}

export interface DocumentTexts {
  /** Throws `invalid_document` for a document that is broken or encrypted, and `file_too_large`. */
  textOf(bytes: Buffer, asked: Asked): Promise<string>;
}

const READ_WITHIN_MS = 30_000;

export function createDocumentTexts(processes: Processes): DocumentTexts {
  return {
    async textOf(bytes, { name, projectId: owner, signal }) {
      const { kind } = fileKindOf(bytes);
      const failed = (code: string, what: string): NodeFailure => {
        return new NodeFailure(code, `The document ${JSON.stringify(name)} ${what}.`);
      };
      if (kind === 'old_office') {
        throw failed('invalid_document', 'is encrypted, or of a format before DOCX and XLSX');
      }
      if (kind !== 'pdf' && kind !== 'docx' && kind !== 'xlsx') return decodeText(bytes);
      const work = { kind: 'document', format: kind, bytes } as const;
      const reply = await processes.run(work, { owner, signal, limitMs: READ_WITHIN_MS });
      if (reply?.kind === 'text') return reply.text;
      if (reply?.kind === 'failed') throw failed(reply.code, reply.message);
      const limits = `${READ_WITHIN_MS / 1000} s or ${DOCUMENT_LIMITS.residentMb} MiB of memory`;
      throw failed('file_too_large', `takes more than ${limits} to read`);
    },
  };
}
