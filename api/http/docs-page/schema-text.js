// JSON Schemas as a person reads them, and a sample of what they ask for.

const MAX_DEPTH = 6;
const REF = '#/components/schemas/';

/** `expanded` names the components that stand in full above. */
export function schemaText(schema, components, depth = 0, expanded = []) {
  if (schema === undefined || Object.keys(schema).length === 0) return 'any';
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace(REF, '');
    if (depth > MAX_DEPTH || expanded.includes(name)) return name;
    return `${name} ${schemaText(components[name], components, depth, [...expanded, name])}`;
  }
  const inner = (member) => schemaText(member, components, depth + 1, expanded);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined)
    return choices.map((choice) => schemaText(choice, components, depth, expanded)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.type === 'array') return `array of ${inner(schema.items)}`;
  if (schema.properties !== undefined) return objectText(schema, depth, inner);
  if (schema.type === 'object') {
    const values = schema.additionalProperties;
    return typeof values === 'object' && Object.keys(values).length > 0 ? `map to ${inner(values)}` : 'object';
  }
  return `${[schema.type ?? 'any'].flat().join(' | ')}${limitsText(schema)}`;
}

function objectText(schema, depth, inner) {
  const indent = '  '.repeat(depth + 1);
  const lines = Object.entries(schema.properties).map(([name, member]) => {
    const isRequired = schema.required?.includes(name) ?? false;
    const fallback = member.default === undefined ? '' : ` = ${JSON.stringify(member.default)}`;
    const note = member.description === undefined ? '' : `  // ${member.description}`;
    return `${indent}${name}${isRequired ? '' : '?'}: ${inner(member)}${fallback}${note}`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

function limitsText(schema) {
  const limits = [
    schema.format,
    schema.minimum !== undefined && `from ${schema.minimum}`,
    schema.maximum !== undefined && `to ${schema.maximum}`,
    schema.minLength !== undefined && `at least ${schema.minLength} characters`,
    schema.maxLength !== undefined && `at most ${schema.maxLength} characters`,
  ].filter(Boolean);
  return limits.length === 0 ? '' : ` (${limits.join(', ')})`;
}

/** The required members with the plainest values that fit. */
export function sampleOf(schema, components) {
  if (schema === undefined) return {};
  if (schema.$ref !== undefined) return sampleOf(components[schema.$ref.replace(REF, '')], components);
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return sampleOf(choices[0], components);
  const type = [schema.type].flat()[0];
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return false;
  if (type === 'array') return [];
  const required = Object.entries(schema.properties ?? {}).filter(([name]) => schema.required?.includes(name));
  return Object.fromEntries(required.map(([name, member]) => [name, sampleOf(member, components)]));
}
