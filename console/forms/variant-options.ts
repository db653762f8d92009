import { asArray, asText, type JsonObject } from '../drawing/json.js';
import { propertiesOf, typesOf, variantsOf } from './schema.js';

export interface VariantOption {
  label: string;
  value?: unknown;
  /** Of an object with fields. */
  schema?: JsonObject;
}

/** Whether an object has the constants of an alternative, such as the word that tells it from the others. */
export function hasConstants(schema: JsonObject, value: JsonObject): boolean {
  return Object.entries(propertiesOf(schema)).every(
    ([key, property]) => !Object.hasOwn(property, 'const') || value[key] === property['const'],
  );
}

/** Each word of an alternative, or each alternative that is an object with fields; others cannot be chosen. */
export function variantOptions(schema: JsonObject): VariantOption[] {
  return variantsOf(schema).flatMap((variant): VariantOption[] => {
    const words = asArray(variant['enum'] ?? (Object.hasOwn(variant, 'const') ? [variant['const']] : []));
    if (words.length > 0) return words.map((word) => ({ label: String(word), value: word }));
    const keys = Object.keys(propertiesOf(variant));
    if (!typesOf(variant).includes('object') || keys.length === 0) return [];
    return [{ label: asText(variant['title']) ?? `By ${keys.join(' and ')}`, schema: variant }];
  });
}
