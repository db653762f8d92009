import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { mayAct } from '../../acceptance/roles.js';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { Role } from '../../db/core/tables.js';
import type { MemberProject, ProviderKeyListing } from '../../db/projects/projects-repository.js';
import type { ProviderKeyRecord } from '../../db/projects/provider-keys-repository.js';

export const roleSchema = z.enum(['owner', 'admin', 'editor', 'viewer'] satisfies Role[]).meta({ id: 'Role' });

export const providerKeySchema = z.object({
  id: z.int(),
  name: z.string(),
  provider: z.string(),
  masked_key: z.string(),
  created_at: z.iso.datetime(),
});

export function toProviderKey(key: ProviderKeyRecord): z.infer<typeof providerKeySchema> {
  const { id, name, provider, masked_key, created_at } = key;
  return { id, name, provider, masked_key, created_at: created_at.toISOString() };
}

export const amountSchema = z
  .record(z.string(), z.string())
  .describe('ISO 4217 code -> plain decimal.')
  .meta({ id: 'Amount' });

export const spendingLimitSchema = z.object({
  amount: z.string().describe('USD, a plain decimal'),
  period: z.enum(['day', 'month', 'total']).describe('Days and months begin at midnight UTC'),
});

const poolFields = {
  pool: z.string().nullable().describe('The pool of workers that executes its nodes; null is `default`'),
  pools: z.array(z.string()).describe('The other pools that its nodes may name'),
};

/** The answer to a change by an administrator of the service who is not a member of the project. */
export const projectPoolsSchema = z
  .object({ id: z.int(), name: z.string(), ...poolFields })
  .meta({ id: 'ProjectPools' });

export const projectSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    total_spent: amountSchema,
    spending_limit: spendingLimitSchema.nullable(),
    spent_in_period: amountSchema,
    stored_bytes: z.int().describe('All that the project stores, files included; at most 10 seconds old'),
    attached_provider_keys: z.array(providerKeySchema),
    ...poolFields,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    webhook_url: z.string(),
    is_webhook_enabled: z.boolean(),
    can_edit: z.boolean(),
    role: roleSchema,
  })
  .meta({ id: 'Project' });

export function toSpendingLimit({
  spending_limit_usd: usd,
  spending_period: period,
}: Pick<MemberProject, 'spending_limit_usd' | 'spending_period'>): z.infer<typeof spendingLimitSchema> | null {
  return usd === null || period === null ? null : { amount: new Decimal(usd).toFixed(), period };
}

export function toProject(
  project: MemberProject,
  providerKeys: ProviderKeyListing[],
  currencies: Currencies,
): z.infer<typeof projectSchema> {
  return {
    id: project.id,
    name: project.name,
    total_spent: toAmount(project.total_spent_usd, currencies),
    spending_limit: toSpendingLimit(project),
    spent_in_period: toAmount(project.spent_in_period_usd, currencies),
    stored_bytes: project.stored_bytes,
    attached_provider_keys: providerKeys.filter((key) => key.project_id === project.id).map(toProviderKey),
    pool: project.pool,
    pools: project.pools,
    created_at: project.created_at.toISOString(),
    updated_at: project.updated_at.toISOString(),
    webhook_url: project.webhook_url,
    is_webhook_enabled: project.is_webhook_enabled,
    can_edit: mayAct(project.role, 'admin'),
    role: project.role,
  };
}
