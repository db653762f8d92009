import type { OpenRequest } from '../../db/runs/open-requests-repository.js';

/** Returns the message to the caller of a run that waits for people. People answer the requests in the inbox. */
export function toRequestText(requests: readonly OpenRequest[], { publicUrl }: { publicUrl: string }): string {
  const texts = requests.map(({ kind, id, tool, text, expiresAt }) => {
    if (kind === 'sign_in') {
      return `Somebody has to sign in for the connection \`${text}\` here: ${publicUrl}/inbox (until ${expiresAt})`;
    }
    const until = `${publicUrl}/inbox/${id} (until ${expiresAt})`;
    if (kind === 'human_task') return `${text}\n\nAnswer here: ${until}`;
    const question = `May the tool \`${tool}\` be called with these arguments?`;
    return `${question}\n\n\`\`\`json\n${text}\n\`\`\`\n\nApprove or reject it here: ${until}`;
  });
  return `${texts.join('\n\n')}\n\nThe run goes on when this is done.`;
}
