// Translates the fields of n8n's forms to input fields.
import type { JsonObject } from '../graph/json.js';
import { objectsOf, textOf, valueAt } from './n8n-file.js';

const TYPES: Readonly<Record<string, string>> = {
  text: 'text',
  textarea: 'textarea',
  number: 'number',
  date: 'text',
  email: 'text',
  dropdown: 'select',
  radio: 'select',
  checkbox: 'json',
  password: 'text',
  hiddenField: 'text',
};

interface FormFields {
  fields: JsonObject[];
  warnings: string[];
}

interface FormRules {
  /** True if this version of the node has names of fields in addition to labels. */
  areNamed: boolean;
  canBeSecret: boolean;
}

/** n8n names a value by the label of its field. Later versions use the name of the field, if there is one. */
export function fieldsOfForm(values: unknown, { areNamed, canBeSecret }: FormRules): FormFields {
  const fields = new Map<string, JsonObject>();
  const warnings: string[] = [];
  for (const field of objectsOf(values)) {
    const label = textOf(field['fieldLabel']) ?? '';
    const id = (areNamed ? textOf(field['fieldName']) : undefined) || label || textOf(field['fieldName']) || '';
    const type = textOf(field['fieldType']) ?? 'text';
    if (id === '' || fields.has(id) || !Object.hasOwn(TYPES, type)) {
      warnings.push(
        `The field "${label === '' ? type : label}" of the form was left out: the type "${type}" or its name has no equivalent.`,
      );
      continue;
    }
    const options = objectsOf(valueAt(field['fieldOptions'], 'values')).flatMap(({ option }) => textOf(option) ?? []);
    const placeholder = textOf(field['placeholder']);
    fields.set(id, {
      id,
      title: label === '' ? id : label,
      type: TYPES[type],
      ...(field['requiredField'] === true && { input_requirements: true }),
      ...(placeholder !== undefined && placeholder !== '' && { placeholder }),
      ...(options.length > 0 && { options: options.map((value) => ({ title: value, value })) }),
      ...(type === 'password' && canBeSecret && { is_secret: true }),
    });
  }
  return { fields: [...fields.values()], warnings };
}
