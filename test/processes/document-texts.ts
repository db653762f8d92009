// Extracts the texts of documents in separate processes, as a worker does.
import assert from 'node:assert/strict';
import { createDocumentTexts, type DocumentTexts } from '../../activities/files/document-texts.js';
import { createProcesses, DOCUMENT_LIMITS, type Processes } from '../../processes/processes.js';

const ENTRY = new URL('../../dist/processes/host.js', import.meta.url);

/** Starts the processes before the tests of a suite, and ends them after it. */
export function useDocumentTexts() {
  let processes: Processes;
  let texts: DocumentTexts;

  before(() => {
    processes = createProcesses(ENTRY, DOCUMENT_LIMITS);
    texts = createDocumentTexts(processes);
  });
  after(() => processes.close());

  const textOf = (
    bytes: Buffer,
    { signal = new AbortController().signal, type = 'application/octet-stream' } = {},
  ): Promise<string> => texts.textOf(bytes, { file: { name: 'a "b"', type }, projectId: 1, signal });
  return {
    textOf,
    /** Returns the code and the message of the error. */
    errorOf: async (bytes: Buffer, type?: string): Promise<[string, string]> => {
      const error = await textOf(bytes, { type }).then(
        (text) => assert.fail(`a text: ${text.slice(0, 100)}`),
        (thrown: unknown) => thrown as { code: string; message: string },
      );
      return [error.code, error.message];
    },
  };
}
