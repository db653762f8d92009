import type { ComponentType } from 'react';
import type { Path } from '../forms/schema.js';
import type { JsonObject } from '../graph/json.js';
import { ConditionForm } from './condition.js';
import { TriggerForm } from './trigger.js';

export interface KindFormProps {
  /** Of the kind's data, as the service gives it: titles are taken from there. */
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

const FORMS: ReadonlyMap<string, ComponentType<KindFormProps>> = new Map([
  ['trigger-node', TriggerForm],
  ['if-else-node', ConditionForm],
]);

/** A kind's own form, by the `type` of its nodes. Every other kind has the generic one. */
export function kindForm(type: string): ComponentType<KindFormProps> | undefined {
  return FORMS.get(type);
}
