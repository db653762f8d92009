// The settings that say in which pool a node is executed, and how long it waits for a worker (docs/operate/pools.md).
import { z } from 'zod';
import { isObject, ownValue, type JsonObject } from '../json.js';
import { traitsOf, type NodeKind } from '../kinds.js';
import { POOL_NAME } from '../pools.js';
import { SECONDS_FORMAT } from './shared-fields.js';

/** The `format` of a field with the name of a pool. Editors offer the pools of the project. */
const POOL_FORMAT = 'pool';

const MAX_SCHEDULE_SECONDS = 30 * 24 * 3600;

const poolField = z
  .string()
  .regex(POOL_NAME, { error: 'Input should be the name of a pool: up to 40 small letters, digits and hyphens' });

const scheduleTimeoutField = z.number().min(1).max(MAX_SCHEDULE_SECONDS);

/** The fields of `settings` of the kinds that run as `activity` or `loop` (`KindTraits.runs`). */
export const placementFields = {
  pool: poolField
    .nullish()
    .describe('The pool whose workers execute the node, one of the project. Empty: the pool of the project')
    .meta({ title: 'Pool', format: POOL_FORMAT }),
  schedule_timeout: scheduleTimeoutField
    .nullish()
    .describe(
      'How long the node waits until a worker takes it. Empty: a day in the pool default, else as long as the run lasts',
    )
    .meta({ title: 'Wait for a worker', format: SECONDS_FORMAT }),
};

interface Placement {
  pool?: string;
  /** In seconds. */
  takeWithin?: number;
}

/** Reads data that may be invalid: an invalid value counts as absent, and the schema reports it. */
export function placementOf({ kind, data }: { kind: NodeKind; data: JsonObject }): Placement {
  const { runs } = traitsOf(kind);
  const settings = ownValue(data, 'settings');
  if ((runs !== 'activity' && runs !== 'loop') || !isObject(settings)) return {};
  const pool = poolField.safeParse(ownValue(settings, 'pool'));
  const takeWithin = scheduleTimeoutField.safeParse(ownValue(settings, 'schedule_timeout'));
  return {
    ...(pool.success && { pool: pool.data }),
    ...(takeWithin.success && { takeWithin: takeWithin.data }),
  };
}
