// Types of connections in the service's requests and responses.
import type { components, paths } from '../../../clients/typescript/src/index.js';

export type Connection = components['schemas']['Connection'];
export type ConnectionKind = Connection['kind'];
type PresetList = paths['/api/v1/connection-presets/']['get']['responses'][200]['content']['application/json'];
export type Preset = PresetList[number];
type TestPath = paths['/api/v1/projects/{id}/connections/{connection_id}/test/'];
export type TestOutcome = TestPath['post']['responses'][200]['content']['application/json'];
type UsedByPath = paths['/api/v1/projects/{id}/connections/{connection_id}/used-by/'];
export type UsedBy = UsedByPath['get']['responses'][200]['content']['application/json'];
type ToSignInList = paths['/api/v1/connections/']['get']['responses'][200]['content']['application/json'];
export type ConnectionToSignIn = ToSignInList['items'][number];

/** Body of a request. An omitted secret remains unchanged. */
export interface ConnectionBody {
  name: string;
  origins: string[];
  settings: Record<string, unknown>;
  secrets: Record<string, unknown>;
}
