// The chat-completion proxy (docs/use/interface-notes/proxy.md). A call to a provider is not part of a run; its billing
// transaction belongs to a project, or to none. A call to the model `workflow:ID` starts a run.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { mayAct } from '../../acceptance/roles.js';
import { findModel, type ModelProvider, type ModelProviders } from '../../config/model-providers.js';
import { findProjectRole } from '../../db/projects/members-repository.js';
import { findProviderKey } from '../../db/projects/provider-keys-repository.js';
import type { ChatDeps } from './deps.js';
import { chatErrorSchema } from '../http/chat-errors.js';
import { documentedAs } from '../http/documented-as.js';
import { ApiError, permissionDenied } from '../http/errors.js';
import { MAX_ID } from '../http/path-ids.js';
import { routesOf, type Caller, type Route } from '../http/route.js';
import { meterAnswer } from './meter-answer.js';
import { askWorkflow, isWorkflowModel, listWorkflowModels, modelSchema, unknownModel } from './workflow-model.js';
import { cutText } from '../../graph/cut-text.js';

const defineRoute = routesOf<ChatDeps>();

const MAX_CHAT_BODY_BYTES = 20 * 1024 * 1024;
const MAX_LOGGED_MODEL_LENGTH = 200;

const chatBody = z.looseObject({
  model: z.string().min(1).describe('Decides which provider is asked.'),
  messages: z.array(z.unknown()).describe('Chat messages, each with role and content; judged by the provider.'),
  stream: z.unknown().optional(),
  max_tokens: z.unknown().optional(),
  max_completion_tokens: z.unknown().optional(),
  stream_options: z.unknown().optional(),
  n: z.unknown().optional(),
  best_of: z.unknown().optional(),
});

const projectHeader = documentedAs(
  z
    .string()
    .regex(/^\d{1,10}$/, 'A valid integer is required.')
    .transform(Number)
    .refine((id) => id <= MAX_ID, 'A valid integer is required.'),
  { type: 'integer', minimum: 0, maximum: MAX_ID },
);

const chatHeaders = z.object({
  'x-project-id': projectHeader.optional(),
  'idempotency-key': z.string().optional().describe('Of workflows: the same key starts only one run'),
});

const completeChat = defineRoute({
  method: 'POST',
  path: '/v1/chat/completions/',
  summary:
    'Passes a chat completion to the provider of its model and the answer back, both unchanged, or runs the workflow that the model names.',
  description:
    'Works with any client of the protocol: base address `{base_url}/v1`, the API key as its key. `stream: true` is ' +
    "passed through as it arrives. With `X-Project-Id`, a project where the caller may run workflows, that project's " +
    'own key for the provider is used where it has one; a key that is restricted to a project names it without the ' +
    'header, and no other. The call is a transaction of that project, or of none, and a 402 with the code ' +
    '`budget_exceeded` where it could pass the limit of the project. The answer takes at most 60 seconds; a stream at most 60 seconds to its first byte and ' +
    'between any two. ' +
    'The model `workflow:ID` is a workflow with `is_chat` that the caller may run: its run gets `message`, `messages` and ' +
    '`files`, and what it puts out is the answer, whose `id` is the run. Whoever hangs up cancels the run. 400: it does not ' +
    'take the messages. 402 `budget_exceeded`: a limit of money has stopped the run. 500: the run failed, with the code of the node. 504: it took more than 600 seconds, and was ' +
    'cancelled. Failures of a run carry `x-should-retry: false`; those of a stream are its last event.',
  auth: 'bearer-key',
  audit: { action: 'chat.called', target: 'project', records: 'refusals' },
  bodyFormat: 'verbatim',
  maxBodyBytes: MAX_CHAT_BODY_BYTES,
  headers: chatHeaders,
  body: chatBody,
  responses: {
    200: z.looseObject({}),
    402: chatErrorSchema,
    403: chatErrorSchema,
    404: chatErrorSchema,
    504: chatErrorSchema,
  },
  mediaTypes: { 200: ['application/json', 'text/event-stream'] },
  otherAnswers: "The provider's own status and body, verbatim: 400, 401, 429 and others.",
  async handler({ deps, log, caller, headers, body, bodyBytes, requestHeaders, signal, memory, tenant, audit }) {
    if (isWorkflowModel(body.model)) {
      return askWorkflow({ deps, log, caller, body, requestHeaders, memory, tenant, signal, doer: audit.doer });
    }
    const startedAt = performance.now();
    const model = findModel(deps.models, body.model);
    if (model === undefined) throw unknownModel(body.model);
    const { provider } = model;
    const { projectId, apiKey } = await chooseKey(deps, caller, provider, headers['x-project-id']);
    const characters = bodyBytes.toString('utf8').length;
    const asked = { projectId, userId: caller.userId, modelName: body.model, model, characters, body };
    const call = await deps.chatMeter.begin(asked);
    if (signal.aborted) await call.end({ kind: 'failed', reason: 'not_made' });
    signal.throwIfAborted();
    let mayCost = false;
    const answer = await deps.chatUpstream
      .send({
        provider,
        apiKey,
        headers: toProviderHeaders(requestHeaders),
        body: bodyBytes,
        wantsStream: body.stream === true,
        signal,
        onWire: (may) => (mayCost = may),
      })
      .catch(async (error: unknown) => {
        const reason = signal.aborted ? 'not_made' : codeOf(error);
        await call.end(mayCost ? { kind: 'cut' } : { kind: 'failed', reason });
        throw error;
      });
    const facts = { model: cutText(body.model, MAX_LOGGED_MODEL_LENGTH), provider: provider.name };
    const onEnd = (outcome: 'complete' | 'broken'): void => {
      const durationMs = Math.round(performance.now() - startedAt);
      log.info({ ...facts, upstream_status: answer.status, outcome, duration_ms: durationMs }, 'chat completion');
    };
    const metered = await meterAnswer(answer, call, onEnd);
    return { status: answer.status, headers: toCallerHeaders(answer.headers), body: metered };
  },
});

/**
 * Prefers the project's own key to the platform's. Every member who may run the project's workflows may use its key.
 */
async function chooseKey(
  deps: ChatDeps,
  caller: Caller,
  provider: ModelProvider,
  named: number | undefined,
): Promise<{ projectId: number | undefined; apiKey: string }> {
  const projectId = named ?? caller.projectId;
  if (projectId === undefined) return { projectId, apiKey: provider.apiKey };
  const access = await findProjectRole(deps.db, projectId, caller);
  if (access === undefined && named === undefined) throw permissionDenied("The key's project is not open to its user.");
  // A project that does not exist gets the same answer, so nobody learns which projects exist.
  if (access === undefined) {
    const message = 'You are not a member of this project.';
    throw new ApiError(403, 'permission_denied', message, { param: 'x-project-id' });
  }
  if (!mayAct(access.role, 'editor')) throw permissionDenied();
  const sealed = await findProviderKey(deps.db, projectId, provider.name);
  const apiKey =
    sealed === undefined ? provider.apiKey : deps.secretBox.open(sealed, 'provider-key', projectId, provider.name);
  return { projectId, apiKey };
}

function codeOf(error: unknown): string {
  return error instanceof ApiError ? error.code : 'upstream_error';
}

// Allow lists of the headers that pass the chat proxy. All others are dropped: credentials, cookies, hop-by-hop
// headers, addresses of inner proxies, names of the platform's account, and unforeseen ones.

// `idempotency-key` and `openai-organization` are excluded: callers share the platform's key, so one caller could
// receive another's answer or choose the account that is charged.
const TO_PROVIDER = /^(?:accept|accept-encoding|accept-language|content-type|user-agent|openai-beta|x-stainless-.*)$/;

const TO_CALLER = new RegExp(
  '^(?:content-type|content-encoding|content-language|content-disposition|cache-control|retry-after|retry-after-ms' +
    '|x-should-retry|openai-model|openai-version|openai-processing-ms' +
    '|x-ratelimit-(?:limit|remaining|reset)-(?:requests|tokens))$',
);

function toProviderHeaders(sent: IncomingHttpHeaders): Record<string, string> {
  const { 'accept-encoding': accepted, ...passing } = select(sent, TO_PROVIDER);
  return { ...passing, ...(accepted !== undefined && { 'accept-encoding': toReadable(accepted) }) };
}

const READABLE = /^(?:gzip|x-gzip|deflate|br|identity)\s*(?:;|$)/i;

/** Drops the encodings from which the usage cannot be read. */
function toReadable(accepted: string): string {
  const encodings = accepted.split(',').map((encoding) => encoding.trim());
  return encodings.filter((encoding) => READABLE.test(encoding)).join(', ') || 'identity';
}

function toCallerHeaders(answered: IncomingHttpHeaders): Record<string, string> {
  return select(answered, TO_CALLER);
}

function select(headers: IncomingHttpHeaders, passing: RegExp): Record<string, string> {
  const selected: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && passing.test(name)) selected[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return selected;
}

const listModels = defineRoute({
  method: 'GET',
  path: '/v1/models/',
  summary:
    'Lists the models that the operator has configured, and the workflows with `is_chat` that the caller may run, in the shape of the chat-completion protocol.',
  description: 'A provider that serves any model (`*`) adds none: the list is then not complete.',
  auth: 'bearer-key',
  responses: {
    200: z.object({ object: z.literal('list'), data: z.array(modelSchema) }),
    401: chatErrorSchema,
    403: chatErrorSchema,
    429: chatErrorSchema,
  },
  async handler({ deps, caller }) {
    const data = [...toModels(deps.models), ...(await listWorkflowModels(deps, caller))];
    return { status: 200, body: { object: 'list', data } };
  },
});

export const chatRoutes: Route<ChatDeps>[] = [completeChat, listModels];

function toModels({ models }: ModelProviders): z.infer<typeof modelSchema>[] {
  return [...models]
    .filter(([id]) => id !== '*' && !isWorkflowModel(id))
    .map(([id, { provider }]) => ({ id, object: 'model', created: 0, owned_by: provider.name }));
}
