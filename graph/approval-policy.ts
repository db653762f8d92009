// Decides which tool calls of an agent need a person's approval.

/** The policy is `always`, `never`, or two lists of tool names. A tool in neither list needs approval. */
export type ApprovalPolicy =
  | 'always'
  | 'never'
  | { always?: { tool_names: string[] } | undefined; never?: { tool_names: string[] } | undefined };

export function needsApproval(policy: ApprovalPolicy, toolName: string): boolean {
  if (typeof policy === 'string') return policy === 'always';
  // A tool in both lists needs approval, which is the safer interpretation.
  if (policy.always?.tool_names.includes(toolName)) return true;
  return !policy.never?.tool_names.includes(toolName);
}
