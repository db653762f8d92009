// Which tool calls of an agent wait for a person. decisions.md section 5, agent node.

/** `always`, `never`, or by tool name; a name that neither list holds needs approval. */
export type ApprovalPolicy =
  | 'always'
  | 'never'
  | { always?: { tool_names: string[] } | undefined; never?: { tool_names: string[] } | undefined };

export function needsApproval(policy: ApprovalPolicy, toolName: string): boolean {
  if (typeof policy === 'string') return policy === 'always';
  // Named in both: the safer reading.
  if (policy.always?.tool_names.includes(toolName)) return true;
  return !policy.never?.tool_names.includes(toolName);
}
