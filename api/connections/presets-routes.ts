import { z } from 'zod';
import { routesOf, type Route } from '../http/route.js';
import { connectionPresets, connectionPresetSchema } from './presets.js';

const defineRoute = routesOf();

const presets = defineRoute({
  method: 'GET',
  path: '/api/v1/connection-presets/',
  summary: 'Lists services that a connection may be made to, by name.',
  auth: 'open',
  description:
    'A preset has the kind, the origins and the settings of a new connection. A name in braces, such as `{subdomain}`, ' +
    'stands for a part of an address that differs from account to account; it is replaced everywhere before the ' +
    'connection is made.',
  responses: { 200: z.array(connectionPresetSchema) },
  handler: () => ({ status: 200, body: connectionPresets }),
});

export const connectionPresetRoutes: Route[] = [presets];
