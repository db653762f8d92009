import { z } from 'zod';
import type { ModelProviders } from '../../config/model-providers.js';
import { defineRoute, type Route } from '../http/route.js';
import { chatErrorSchema } from '../http/chat-errors.js';

const modelSchema = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Unix time; 0, because providers do not tell it.'),
  owned_by: z.string().describe('The name of the provider.'),
});

const list = defineRoute({
  method: 'GET',
  path: '/v1/models/',
  summary: 'The models that the operator has listed, in the shape of the chat-completion protocol.',
  description: 'A provider that serves any model (`*`) adds none: the list is then not complete.',
  auth: 'bearer-key',
  responses: {
    200: z.object({ object: z.literal('list'), data: z.array(modelSchema) }),
    401: chatErrorSchema,
    403: chatErrorSchema,
    429: chatErrorSchema,
  },
  handler: ({ deps }) => ({ status: 200, body: { object: 'list', data: toModels(deps.models) } }),
});

export const modelRoutes: Route[] = [list];

function toModels({ models }: ModelProviders): z.infer<typeof modelSchema>[] {
  return [...models]
    .filter(([id]) => id !== '*')
    .map(([id, { provider }]) => ({ id, object: 'model', created: 0, owned_by: provider.name }));
}
