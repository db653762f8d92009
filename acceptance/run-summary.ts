import { toMarkdown } from '../contract/run-workflow.js';

/** Temporal's limit is 400 bytes. The difference leaves room for the quotes and escapes that Temporal adds. */
const MAX_SUMMARY_BYTES = 360;

/** The title of a run for the Temporal UI, cut between characters to the length that Temporal accepts. */
export function toSummary(title: string): string {
  let summary = '';
  for (const character of title) {
    const written = toMarkdown(character);
    if (Buffer.byteLength(summary + written) > MAX_SUMMARY_BYTES) break;
    summary += written;
  }
  return summary;
}
