// How a run's nodes become activities (docs/adr, "Dense execution").
import { isObject, ownValue } from './json.js';

export const EXECUTIONS = ['visible', 'dense'] as const;
/** `visible`: one activity a node that leaves the process. `dense`: neighbours share activities. */
export type Execution = (typeof EXECUTIONS)[number];

/** What a drawing says in `data.settings.execution`; undefined where it says nothing. It may be any value. */
export function executionSettingOf(data: unknown): unknown {
  const settings = isObject(data) ? ownValue(data, 'settings') : undefined;
  return (isObject(settings) ? ownValue(settings, 'execution') : undefined) ?? undefined;
}

export function isExecution(value: unknown): value is Execution {
  return EXECUTIONS.some((known) => known === value);
}
