// The model providers of MODEL_PROVIDERS_FILE or OPENAI_API_KEY: the provider of a model, the price of a million tokens
// in USD, and the kinds of files that a model accepts.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { ConfigError, type Environment } from './environment.js';
import { secretOf } from './secret-files.js';

const price = z
  .union([z.string(), z.number()])
  .transform((value) => String(value))
  .refine((value) => /^\d{1,12}(\.\d{1,18})?$/.test(value), 'Invalid price: a plain decimal in USD is expected')
  .transform((value) => new Decimal(value).toFixed());

/** The kinds of files that a model may accept without conversion. */
const FILE_KINDS = ['image', 'pdf', 'audio'] as const;

const fileSchema = z.object({
  providers: z
    .array(
      z.object({
        name: z.string().min(1),
        base_url: z
          .url({ protocol: /^https?$/ })
          .refine((url) => /\/v1\/?$/.test(url), 'base_url must end in /v1')
          .refine((url) => !hasCredentials(url), 'base_url must hold no credentials; api_key_env names the key'),
        api_key_env: z.string().min(1).optional(),
        models: z.array(
          z.object({
            id: z.string().min(1),
            input_price_per_million: price.default('0'),
            output_price_per_million: price.default('0'),
            accepts: z.array(z.enum(FILE_KINDS)).default(['image']),
            stream: z.boolean().default(true),
          }),
        ),
      }),
    )
    .min(1),
});

export interface ModelProvider {
  name: string;
  /** Ends in `/v1`, without a trailing slash. */
  baseUrl: string;
  apiKey: string;
}

export interface ResolvedModel {
  provider: ModelProvider;
  /** USD per million prompt tokens, as a plain decimal. */
  inputPricePerMillion: string;
  /** USD per million completion tokens, as a plain decimal. */
  outputPricePerMillion: string;
  /** The kinds of files that the model accepts without conversion. Of other files the model gets the text, if any. */
  accepts: readonly (typeof FILE_KINDS)[number][];
  /** True if nodes request streams from it. */
  stream: boolean;
  /** Identifies the price list; recorded with each transaction. */
  priceVersion: string;
}

export interface ModelProviders {
  /** Models by id; `*` matches all others. */
  models: ReadonlyMap<string, ResolvedModel>;
}

/**
 * Throws `ConfigError`. If MODEL_PROVIDERS_FILE is not set but OPENAI_API_KEY is, every model is one of OpenAI, and its
 * calls cost 0 because no prices are known.
 */
export function loadModelProviders(environment: Environment, env: NodeJS.ProcessEnv): ModelProviders {
  if (environment.modelProvidersFile !== undefined) return parseModelProviders(environment.modelProvidersFile, env);
  if (environment.openaiApiKey === undefined) return { models: new Map() };
  const openai = { name: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: environment.openaiApiKey };
  const free = { inputPricePerMillion: '0', outputPricePerMillion: '0', priceVersion: 'unpriced' };
  return { models: new Map([['*', { provider: openai, ...free, accepts: ['image', 'pdf'], stream: true }]]) };
}

/**
 * A model whose name starts with this is a workflow (docs/use/api.md, "Chat completions"). The
 * name never reaches a provider.
 */
export const WORKFLOW_MODEL = 'workflow:';

export function findModel(providers: ModelProviders, modelName: string): ResolvedModel | undefined {
  if (modelName.startsWith(WORKFLOW_MODEL)) return undefined;
  return providers.models.get(modelName) ?? providers.models.get('*');
}

function parseModelProviders(file: string, env: NodeJS.ProcessEnv): ModelProviders {
  const text = readText(file);
  const priceVersion = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const parsed = fileSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new ConfigError(`MODEL_PROVIDERS_FILE: ${issue.path.join('.')}: ${issue.message}.`);
  }
  const models = new Map<string, ResolvedModel>();
  for (const { name, base_url, api_key_env, models: listed } of parsed.data.providers) {
    const apiKey = api_key_env === undefined ? 'none' : secretOf(env, api_key_env);
    if (!apiKey) throw new ConfigError(`MODEL_PROVIDERS_FILE: provider ${name} needs the variable ${api_key_env}.`);
    const provider = { name, baseUrl: base_url.replace(/\/$/, ''), apiKey };
    for (const model of listed) {
      if (models.has(model.id)) continue; // The first provider that lists a model serves it.
      models.set(model.id, {
        provider,
        inputPricePerMillion: model.input_price_per_million,
        outputPricePerMillion: model.output_price_per_million,
        accepts: model.accepts,
        stream: model.stream,
        priceVersion,
      });
    }
  }
  return { models };
}

/** `fetch` refuses requests to such an address. */
function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new ConfigError(`MODEL_PROVIDERS_FILE: ${file} cannot be read.`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError('MODEL_PROVIDERS_FILE: the file is not valid JSON.');
  }
}
