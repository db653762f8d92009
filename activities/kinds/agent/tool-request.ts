// Converts a tool call of the model to the row that stores it, with the approval that the call needs.
import { randomUUID } from 'node:crypto';
import type { AskedApproval, NewToolCall } from '../../../db/agents/agent-repository.js';
import type { AgentTool } from '../../../db/agents/agent-tools.js';
import { hashArguments } from '../../../db/agents/arguments-hash.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import type { JsonObject } from '../../../graph/json.js';
import { writeJson } from '../../../graph/json-text.js';
import { isArgumentGiven, type AgentNodeData } from '../../../graph/nodes/agent.js';
import { cutText } from '../../../graph/cut-text.js';
import type { NodeTask } from '../../node/node-step.js';
import type { AskedCall } from './assistant-message.js';

interface Asking {
  secretBox: SecretBox;
  task: NodeTask;
  turn: number;
  settings: AgentNodeData['settings'];
  tools: AgentTool[];
}

/** `ordinal` is the place of the call among the calls of its turn, from 0. */
export function toToolCall(
  { secretBox, task, turn, settings, tools }: Asking,
  { id, name, text, parsed }: AskedCall,
  ordinal: number,
): NewToolCall {
  const row = [task.runId, task.path, task.nodeId, turn, ordinal] as const;
  const refusal = (reason: string) => secretBox.seal(reason, 'agent-answer', ...row);
  const tool = tools.find((each) => each.name === name);
  const base = {
    toolCallId: id,
    serverLabel: tool?.serverLabel ?? null,
    toolName: (tool?.toolName ?? cutText(name, 200)).replaceAll('\0', '\uFFFD'),
    argumentsEnc: secretBox.seal(text, 'agent-arguments', ...row),
    invalidEnc: null,
    approval: null,
  };
  if (tool === undefined) return { ...base, invalidEnc: refusal('There is no tool of this name.') };
  if (parsed === undefined) return { ...base, invalidEnc: refusal('The arguments are not a JSON object.') };
  return isToBeApproved(tool, parsed) ? { ...base, approval: toApproval(task, settings, parsed) } : base;
}

function isToBeApproved({ needsApproval, whenGiven }: AgentTool, parsed: JsonObject): boolean {
  return needsApproval && (whenGiven?.some((name) => isArgumentGiven(parsed, name)) ?? true);
}

function toApproval({ run }: NodeTask, settings: AgentNodeData['settings'], parsed: JsonObject): AskedApproval {
  const shown = run.masker.json(parsed);
  return {
    requestId: randomUUID(),
    shownArguments: writeJson(shown),
    argumentsHash: hashArguments(parsed, shown),
    expiresInSeconds: settings.approval_timeout,
    ...(run.isTest || run.isAssistant ? onlyStarter(run) : deciders(settings)),
  };
}

type Deciders = Pick<AskedApproval, 'required' | 'excludeStarter' | 'roles' | 'onlyUser'>;

function deciders({ approval }: AgentNodeData['settings']): Deciders {
  const { required = 1, exclude_starter: excludeStarter = false, roles = null } = approval ?? {};
  return { required: required ?? 1, excludeStarter: excludeStarter ?? false, roles: roles ?? null, onlyUser: null };
}

/** Only the user who started the run decides, if it is a test run or a run of the assistant in the editor. */
function onlyStarter({ userId }: NodeTask['run']): Deciders {
  return { required: 1, excludeStarter: false, roles: null, onlyUser: userId };
}
