// How a run's nodes become activities (docs/adr/0011-one-walk.md).
import { isObject, ownValue } from './json.js';

export const EXECUTIONS = ['visible', 'dense'] as const;
/** `visible`: each node that leaves the process has one activity. `dense`: an activity walks on through several. */
export type Execution = (typeof EXECUTIONS)[number];

/** Returns `data.settings.execution` of a drawing; undefined where it is not set. It may be any value. */
export function executionSettingOf(data: unknown): unknown {
  const settings = isObject(data) ? ownValue(data, 'settings') : undefined;
  return (isObject(settings) ? ownValue(settings, 'execution') : undefined) ?? undefined;
}

export function isExecution(value: unknown): value is Execution {
  return EXECUTIONS.some((known) => known === value);
}

/** Returns how a drawing is executed, which may say it itself. */
export function executionOf(data: unknown, byDefault: Execution): Execution {
  const setting = executionSettingOf(data);
  return isExecution(setting) ? setting : byDefault;
}
