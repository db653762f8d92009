// docker-compose.yml as Docker reads it: parsed, anchors merged, ${...} filled in.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

export const ROOT = path.resolve(import.meta.dirname, '../..');

type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully';

interface Service {
  image: string;
  build?: { context: string; target: string };
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  depends_on?: Record<string, { condition: Condition }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  restart?: string;
  stop_grace_period?: string;
  container_name?: string;
  read_only?: boolean;
  networks?: string[];
  secrets?: string[];
  deploy?: { resources: { limits: { memory: string } } };
}

export interface ComposeFile {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean }>;
  secrets: Record<string, { file: string }>;
}

/** A `${...}` of the file. */
export interface Variable {
  name: string;
  /** True for `:?` and `?`: Docker refuses to start anything without a value. `:?` also refuses an empty value. */
  isRequired: boolean;
  mayBeEmpty: boolean;
  fallback: string;
}

const PLACE = /\$\$|\$\{(\w+)(?:(:?[-?])([^}]*))?\}/g;

export function composeText(): string {
  return readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8');
}

export function parseCompose(): ComposeFile {
  return parse(composeText(), { merge: true }) as ComposeFile;
}

export function variablesOf(text: string): Variable[] {
  return [...text.matchAll(PLACE)].flatMap(([, name, operator = '', rest = '']) => {
    if (name === undefined) return [];
    const isRequired = operator.endsWith('?');
    return { name, isRequired, mayBeEmpty: operator !== ':?', fallback: isRequired ? '' : rest };
  });
}

/** Throws for a required variable without a value, as `docker compose` does. */
function interpolate(text: string, values: Record<string, string>): string {
  return text.replaceAll(PLACE, (place: string) => {
    const [variable] = variablesOf(place);
    if (variable === undefined) return '$';
    const { name, isRequired, mayBeEmpty, fallback } = variable;
    const value = values[name];
    if (value !== undefined && (value !== '' || (isRequired && mayBeEmpty))) return value;
    if (isRequired) throw new Error(`required variable ${name} is missing a value`);
    return fallback;
  });
}

/**
 * Fills in values after parsing, as Docker does: an empty value stays a string, and no value can change the file's
 * structure.
 */
export function filledCompose(values: Record<string, string> = {}): ComposeFile {
  return fill(parseCompose(), values) as ComposeFile;
}

function fill(node: unknown, values: Record<string, string>): unknown {
  if (typeof node === 'string') return interpolate(node, values);
  if (Array.isArray(node)) return node.map((item) => fill(item, values));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, fill(value, values)]));
}

/** Sizes as Docker writes them: `640m`, `2g`. */
export function toMib(size: string): number {
  const [, amount, unit] = /^(\d+)([mg])$/.exec(size) ?? [];
  if (amount === undefined) throw new Error(`${size} is no size in m or g`);
  return Number(amount) * (unit === 'g' ? 1024 : 1);
}
