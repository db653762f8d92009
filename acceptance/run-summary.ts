import { toMarkdown } from '../contract/run-workflow.js';

/** The server keeps 400 bytes; quotes and escapes take some of them. */
const MAX_SUMMARY_BYTES = 360;

/** The title of a run in the Temporal UI, cut between characters to the length that Temporal accepts. */
export function toSummary(title: string): string {
  let summary = '';
  for (const character of title) {
    const written = toMarkdown(character);
    if (Buffer.byteLength(summary + written) > MAX_SUMMARY_BYTES) break;
    summary += written;
  }
  return summary;
}
