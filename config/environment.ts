// Reads and validates the environment variables of the service (docs/operate/operations.md, "Environment"). Two files
// read further variables: temporal-connection.ts reads those of Temporal's SDK, and model-providers.ts the keys of
// model providers.
import { z } from 'zod';
import { originList, ConfigError, byteSize, flag, parseRetrySchedule } from './variable-types.js';
import { databaseVariables, toDatabaseSettings, type DatabaseSettings } from './database-settings.js';
import { fileVariables, toFileSettings, type FileSettings } from './file-settings.js';
import { networkVariables, port, toNetworkSettings, toPublicUrl, type NetworkSettings } from './network-settings.js';
import { SECRET_FILE_VARIABLES, withSecretFiles } from './secret-files.js';
import { signInVariables, toSignInSettings, type SignInSettings } from './sign-in-settings.js';

export { ConfigError };

const url = (protocol: RegExp) => z.url({ protocol, error: 'must be a URL' });

/** No dots or colons, because Temporal joins name and build as `name:build`, and in older APIs as `name.build`. */
const deploymentText = z.string().regex(/^[A-Za-z0-9][\w-]{0,99}$/, 'must be up to 100 letters, digits, "_" or "-"');
const buildText = z
  .string()
  .regex(/^[A-Za-z0-9][\w.+-]{0,99}$/, 'must be up to 100 letters, digits, ".", "_", "+" or "-"');

/** Accepts the same names as `POOL_NAME` in graph/pools.ts. */
const poolText = z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be up to 40 small letters, digits or "-"');

const schema = z.object({
  NODE_ENV: z.string().optional(),
  PORT: port.default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  TEMPORAL_TASK_QUEUE: z.string().min(1).max(1000).default('workflow-runs'),
  TEMPORAL_PORT: port.default(7233),
  TEMPORAL_UI_PORT: port.default(8233),
  /** The base address of the Temporal UI, for links to runs. */
  TEMPORAL_UI_URL: url(/^https?$/).optional(),
  TEMPORAL_CLI: z.string().min(1).optional(),
  TEMPORAL_PAYLOAD_KEY: z.string().optional(),
  CODEC_SERVER_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  CODEC_SERVER_PORT: port.default(8234),
  POSTGRES_PORT: port.default(5433),
  DATA_DIR: z.string().min(1).default('.data'),
  INTERNAL_SERVICE_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  JWT_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  JWT_JWKS_URL: url(/^https?$/).optional(),
  SECRETS_KEY: z.string().optional(),
  MODEL_PROVIDERS_FILE: z.string().min(1).optional(),
  OPENAI_API_KEY: z.string().min(1).optional(),
  CURRENCIES_FILE: z.string().min(1).optional(),
  DEFAULT_RATE_LIMIT: z.coerce.number().int().min(1).default(60),
  /** Requests per minute of all sessions of a user. */
  SESSION_RATE_LIMIT: z.coerce.number().int().min(1).max(2_147_483_647).default(600),
  /** The time limit of the chat proxy, at most 60 (docs/use/interface-notes/proxy.md). */
  CHAT_TIMEOUT_SECONDS: z.coerce.number().positive().max(60).default(60),
  RESULT_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).default(30),
  RUN_TIMEOUT_DAYS: z.coerce.number().int().min(1).max(3_650).default(365),
  /** The storage quota of a project, in bytes. */
  MAX_PROJECT_BYTES: byteSize.default(10 * 2 ** 30),
  WEBHOOK_RETRY_SCHEDULE: z.string().default('5,300,1800,7200,18000,36000,50400,72000,86400'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  WORKER_METRICS_PORT: port.default(9464),
  /**
   * The runs that a worker caches. 0: every workflow task replays its run from the start. Undefined: depends on the
   * slots (activities/worker/config.ts). With a cache, the SDK needs two pollers for workflow tasks, and so room for
   * two runs.
   */
  WORKER_CACHED_WORKFLOWS: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .refine((runs) => runs !== 1, 'must be 0 or at least 2')
    .optional(),
  /** The pool that a worker belongs to (docs/operate/pools.md). */
  WORKER_POOL: poolText.default('default'),
  WORKER_VERSIONING: flag.default(false),
  WORKER_DEPLOYMENT_NAME: deploymentText.optional(),
  WORKER_BUILD_ID: buildText.optional(),
  /** The execution of runs whose drawing does not specify one. */
  EXECUTION: z.enum(['visible', 'dense']).default('visible'),
  /** The nodes of all runs that one worker executes concurrently. */
  WORKER_ACTIVITY_SLOTS: z.coerce.number().int().min(1).max(10_000).default(100),
  WORKER_PROJECT_SLOTS: z.coerce.number().int().min(1).max(10_000).optional(),
  PUBLIC_URL: url(/^https?$/).optional(),
  /** The API's address for the worker. The default is the public one. */
  INTERNAL_API_URL: url(/^https?$/).optional(),
  /** The origins whose pages may call the API from a browser. */
  CORS_ORIGINS: originList.default([]),
  OTEL_SDK_DISABLED: flag.default(false),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(/^https?$/).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url(/^https?$/).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf').optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.literal('http/protobuf').optional(),
  /** The memory that the payloads of all nodes in a worker share. */
  WORKER_PAYLOAD_MEMORY_MB: z.coerce.number().int().min(16).default(256),
  ...databaseVariables,
  ...fileVariables,
  ...networkVariables,
  ...signInVariables,
});

/** The names of all variables that are read here. */
export const VARIABLES: readonly string[] = [...Object.keys(schema.shape), ...SECRET_FILE_VARIABLES];

type Values = z.infer<typeof schema>;

/** Converts `TEMPORAL_UI_URL` to `temporalUiUrl`. */
type NameOf<Variable extends string> = Variable extends `${infer First}_${infer Others}`
  ? `${Lowercase<First>}${Capitalize<NameOf<Others>>}`
  : Lowercase<Variable>;

type Named = { [Variable in keyof Required<Values> as NameOf<Variable>]: Values[Variable] };

/** The settings that combine several variables, or that are parsed further. */
interface Derived extends DatabaseSettings, FileSettings, NetworkSettings {
  production: boolean;
  /** 32 bytes each. The first key encrypts; every key decrypts. If empty, Temporal's payloads are not encrypted. */
  temporalPayloadKeys: Buffer[];
  /** The API's public address, without a trailing slash. */
  publicUrl: string;
  /** The API's address for the worker, without a trailing slash. */
  internalApiUrl: string;
  signIn: SignInSettings;
  /** 32 bytes each. The first key encrypts; every key decrypts. Empty if unset. */
  secretsKeys: Buffer[];
  /** Seconds before the second, third, ... attempt of a webhook delivery. After as many retries, the delivery fails. */
  webhookRetrySeconds: number[];
  /** True if OpenTelemetry's standard variables enable traces. */
  isTracing: boolean;
  /** The slots that one project may hold while no other project holds any. */
  workerProjectSlots: number;
}

/** Each variable by its name in camel case, and the derived settings. */
export type Environment = Omit<Named, keyof Derived> & Derived;

/** The default deployment of workers and of `npm run admin -- deployment`. */
export const DEFAULT_DEPLOYMENT = 'runs';

/**
 * The prefix of the secrets that the embedded stack generates: INTERNAL_SERVICE_TOKEN, JWT_SECRET and SECRETS_KEY.
 * Production refuses secrets with this prefix.
 */
export const GENERATED_PREFIX = 'embedded-';

/** Throws `ConfigError`. An empty variable counts as unset. */
export function parseEnvironment(env: NodeJS.ProcessEnv): Environment {
  const nonEmpty = Object.fromEntries(Object.entries(withSecretFiles(env)).filter(([, value]) => value));
  const parsed = schema.safeParse(nonEmpty);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new ConfigError(`${issue.path.join('.')}: ${lowerFirst(issue.message)}.`);
  }
  const values = parsed.data;
  const named = Object.fromEntries(Object.entries(values).map(([variable, value]) => [nameOf(variable), value]));
  const environment: Environment = {
    ...(named as Named),
    production: values.NODE_ENV === 'production',
    temporalPayloadKeys: parseKeys('TEMPORAL_PAYLOAD_KEY', values.TEMPORAL_PAYLOAD_KEY),
    publicUrl: toPublicUrl(values),
    internalApiUrl: (values.INTERNAL_API_URL ?? toPublicUrl(values)).replace(/\/$/, ''),
    signIn: toSignInSettings(values, values.JWT_JWKS_URL),
    secretsKeys: parseKeys('SECRETS_KEY', values.SECRETS_KEY),
    webhookRetrySeconds: parseRetrySchedule(values.WEBHOOK_RETRY_SCHEDULE),
    ...toDatabaseSettings(values),
    ...toFileSettings(values),
    ...toNetworkSettings(values),
    isTracing: asksForTraces(values),
    workerProjectSlots: toProjectSlots(values.WORKER_PROJECT_SLOTS, values.WORKER_ACTIVITY_SLOTS),
  };
  if (environment.production) refuseGeneratedSecrets(environment);
  return environment;
}

function nameOf(variable: string): string {
  return variable.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the value of a variable that this process requires. Throws `ConfigError`. */
export function required<K extends keyof Environment>(
  environment: Environment,
  key: K,
  variable: string,
): NonNullable<Environment[K]> {
  const value = environment[key];
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) {
    throw new ConfigError(`${variable}: must be set (npm start sets it for the embedded stack).`);
  }
  return value;
}

/**
 * Defaults to four of five slots, so that long calls of one project leave some slots to others. Rounds up: with fewer
 * than five slots, one project may hold all of them.
 */
function toProjectSlots(configured: number | undefined, activitySlots: number): number {
  if (configured === undefined) return Math.ceil(0.8 * activitySlots);
  if (configured > activitySlots)
    throw new ConfigError('WORKER_PROJECT_SLOTS: must not be above WORKER_ACTIVITY_SLOTS.');
  return configured;
}

/** Returns true if an exporter or an endpoint is set, and nothing disables traces. */
function asksForTraces(values: Values): boolean {
  if (values.OTEL_SDK_DISABLED || values.OTEL_TRACES_EXPORTER === 'none') return false;
  return [
    values.OTEL_TRACES_EXPORTER,
    values.OTEL_EXPORTER_OTLP_ENDPOINT,
    values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
  ].some((value) => value !== undefined);
}

function parseKeys(variable: string, value: string | undefined): Buffer[] {
  if (value === undefined) return [];
  return value.split(',').map((part) => {
    const key = Buffer.from(part.trim(), 'base64');
    if (key.length !== 32) throw new ConfigError(`${variable}: each key must be 32 bytes in base64.`);
    return key;
  });
}

function refuseGeneratedSecrets(environment: Environment): void {
  const generated: [string, boolean][] = [
    ['INTERNAL_SERVICE_TOKEN', environment.internalServiceToken?.includes(GENERATED_PREFIX) ?? false],
    ['JWT_SECRET', environment.jwtSecret?.startsWith(GENERATED_PREFIX) ?? false],
    ['SECRETS_KEY', environment.secretsKeys.some((key) => key.toString('latin1').startsWith(GENERATED_PREFIX))],
  ];
  for (const [variable, isGenerated] of generated) {
    if (isGenerated) throw new ConfigError(`${variable}: production refuses a secret generated by the embedded stack.`);
  }
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
