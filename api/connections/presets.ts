// Services that people connect to. presets.json has the facts, each with the page that states it.
import { z } from 'zod';
import facts from './presets.json' with { type: 'json' };

const address = z.string().regex(/^https:\/\//);
const named = z.union([
  z.strictObject({ name: z.string() }),
  z.strictObject({ names: z.array(z.string()).min(2).max(5) }),
]);
const none = z.strictObject({});
const scopes = z.array(z.string());

const variants = [
  preset('header', named),
  preset('query', named),
  preset('basic', z.strictObject({ username: z.string().optional() })),
  preset('bearer', none),
  preset('oauth2_client_credentials', z.strictObject({ token_url: address, scopes })),
  preset(
    'oauth2',
    z.strictObject({
      authorize_url: address,
      token_url: address,
      scopes,
      authorize_params: z.record(z.string(), z.string()).optional(),
      client_auth: z.enum(['basic', 'post']).optional(),
    }),
  ),
  preset('mcp_oauth', z.strictObject({ server_url: address })),
  preset('path', z.strictObject({ prefix: z.string() })),
] as const;

/**
 * The starting values of a new connection. Values that differ from account to account are missing, or are names in
 * braces within an address, such as `{subdomain}`.
 */
export const connectionPresetSchema = z.discriminatedUnion('kind', variants);

export type ConnectionPreset = z.infer<typeof connectionPresetSchema>;

/** The presets in the order of their names, without the keys `source` and `checked` of presets.json. */
export const connectionPresets: readonly ConnectionPreset[] = z
  .array(connectionPresetSchema)
  .parse(facts)
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));

function preset<Kind extends string, Settings extends z.ZodType>(kind: Kind, settings: Settings) {
  return z.object({
    id: z.string(),
    name: z.string(),
    kind: z.literal(kind),
    origins: z.array(address).min(1).max(20),
    settings: settings.describe('Settings of the kind, without those that differ from account to account.'),
    documentation_url: z.url(),
    mcp_url: address.optional().describe('The address for MCP nodes, where the service has an MCP server.'),
  });
}
