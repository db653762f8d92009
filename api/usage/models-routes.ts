// Lists the models that nodes may name, with their prices.
import { z } from 'zod';
import type { UsageDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';

const defineRoute = routesOf<UsageDeps>();

const PRICE = 'USD, a plain decimal';

const modelSchema = z.object({
  id: z.string(),
  provider: z.string(),
  input_price_per_million: z.string().describe(PRICE),
  output_price_per_million: z.string().describe(PRICE),
});

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/models/',
  summary: 'Lists the models that the operator has configured, with the prices of a million tokens.',
  description: 'A provider that serves any model (`*`) adds none: the list is then not complete.',
  responses: { 200: z.array(modelSchema) },
  handler({ deps }) {
    const listed = [...deps.models.models].filter(([id]) => id !== '*');
    const body = listed.map(([id, { provider, inputPricePerMillion, outputPricePerMillion }]) => ({
      id,
      provider: provider.name,
      input_price_per_million: inputPricePerMillion,
      output_price_per_million: outputPricePerMillion,
    }));
    return { status: 200, body };
  },
});

export const modelRoutes: Route<UsageDeps>[] = [list];
