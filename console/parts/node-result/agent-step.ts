// From the client, because code that runs without a browser uses these types, too.
import type { paths } from '../../../clients/typescript/src/index.js';

export type StepList =
  paths['/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/steps/']['get']['responses'][200]['content']['application/json'];
export type Step = StepList['items'][number];
export type StepCall = Step['tool_calls'][number];
