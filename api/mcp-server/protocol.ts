// Answers `initialize`, and checks the headers of requests: `Accept`, `Mcp-Protocol-Version` and `Mcp-Session-Id`.
import {
  DEFAULT_NEGOTIATED_PROTOCOL_VERSION,
  InitializeRequestParamsSchema,
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../graph/json.js';
import type { McpServerDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import type { Caller } from '../http/route.js';
import { ErrorCode, ProtocolError } from './messages.js';
import { isSessionOf } from './tool-session.js';

const SERVER_INFO = { name: 'workflow-automation-service', version: '1.0.0' };
const INSTRUCTIONS =
  'Each tool is a workflow: a call starts a run of it, and returns the output of the run. If an error names a run, that ' +
  'run may have had effects before it failed. If a call returns before its run has ended, get_run returns the state of ' +
  'the run.';
/** Clients with this version or a later one know tasks, accept an event without data, and resume after its id. */
const TASKS_VERSION = '2025-11-25';

interface Initialized {
  /** The name that the client gives itself. */
  client: string;
  result: JsonObject;
}

/**
 * Answers `initialize` with the client's version if the server knows it, else with the server's latest. `instructions`
 * replace those for workflows as tools, and the server then has no tasks.
 */
export function initialize(params: JsonObject, instructions?: string): Initialized {
  const { success, data } = InitializeRequestParamsSchema.safeParse(params);
  if (!success) {
    const message = 'initialize names protocolVersion, capabilities and clientInfo with its name and version.';
    throw new ProtocolError(ErrorCode.InvalidParams, message);
  }
  const asked = data.protocolVersion;
  const protocolVersion = SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION;
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  const hasTasks = instructions === undefined && protocolVersion >= TASKS_VERSION;
  const result = {
    protocolVersion,
    capabilities: { tools: {}, ...(hasTasks && { tasks }) },
    serverInfo: SERVER_INFO,
    instructions: instructions ?? INSTRUCTIONS,
  };
  return { client: data.clientInfo.name, result };
}

/** Throws 406 for a client that does not accept both forms of answers. */
export function refuseOtherTypes(accept: string | undefined): void {
  const types = (accept ?? '*/*').split(',').map((part) => part.split(';')[0]!.trim().toLowerCase());
  const takes = (type: string): boolean => types.includes(type) || types.includes('*/*');
  if (takes('application/json') && takes('text/event-stream')) return;
  throw new ApiError(406, 'not_acceptable', 'Accept must have application/json and text/event-stream.');
}

export interface AgreedVersion {
  takesFirstEvent: boolean;
  /** True for the versions in which `/mcp` announces tasks. `/mcp/build` has no tasks and ignores this. */
  hasTasks: boolean;
}

export function checkVersion(version = DEFAULT_NEGOTIATED_PROTOCOL_VERSION): AgreedVersion {
  const isNew = version >= TASKS_VERSION;
  if (SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return { takesFirstEvent: isNew, hasTasks: isNew };
  const message = `The server knows the versions ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')} of the protocol.`;
  throw new ApiError(400, 'unsupported_version', message);
}

/**
 * Throws 400 for a request without a session, and 404 for a session that is unknown, expired or of another key, after
 * which the client starts another session.
 */
export function checkSession({ secretBox }: Pick<McpServerDeps, 'secretBox'>, caller: Caller, sessionId = ''): string {
  if (sessionId === '') {
    throw new ApiError(400, 'session_missing', 'Send initialize first, and its Mcp-Session-Id with each request.');
  }
  if (isSessionOf(secretBox, sessionId, caller)) return sessionId;
  throw new ApiError(404, 'session_not_found', 'There is no such session. Send initialize to begin one.');
}
