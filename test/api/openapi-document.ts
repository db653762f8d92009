// Types and checks for the tests that read the service's OpenAPI document.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

export interface OpenApiDocument {
  openapi: string;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

export function operationsOf(document: OpenApiDocument): { name: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
}

export function createValidator(): Ajv2020 {
  // Formats are not validated. ajv's `strict` rules are off, because the JSON Schema standard does not have them.
  return new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
}

/** The returned function describes how an answer differs from the document, or returns undefined if it matches. */
export function createAnswerCheck(document: OpenApiDocument) {
  const validator = createValidator();
  const components = { components: document.components };
  const compiled = new Map<string, ValidateFunction>();
  return (method: string, path: string, status: number, body: unknown): string | undefined => {
    const operation = document.paths[path]?.[method.toLowerCase()];
    const answer = operation?.responses[status];
    const schema = answer?.content?.['application/json']?.schema;
    if (schema === undefined) return `${method} ${path} does not describe ${status}`;
    const id = `${method} ${path} ${status}`;
    const validate = compiled.get(id) ?? validator.compile({ ...schema, ...components });
    compiled.set(id, validate);
    return validate(body) ? undefined : `${id}: ${validator.errorsText(validate.errors)}`;
  };
}
