import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { MemberProject, ProviderKeyListing } from '../../db/projects/projects-repository.js';
import { mayAct } from '../access/roles.js';
import { providerKeySchema, toProviderKey } from './provider-key-view.js';
import { roleSchema } from './role-schema.js';

export const amountSchema = z.record(z.string(), z.string()).describe('ISO 4217 code -> plain decimal.');

export const projectSchema = z.object({
  id: z.int(),
  name: z.string(),
  total_spent: amountSchema,
  attached_provider_keys: z.array(providerKeySchema),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  webhook_url: z.string(),
  is_webhook_enabled: z.boolean(),
  can_edit: z.boolean(),
  role: roleSchema,
});

/** The specification's "Project" as the member with `project.role` sees it. */
export function toProject(
  project: MemberProject,
  providerKeys: ProviderKeyListing[],
  currencies: Currencies,
): z.infer<typeof projectSchema> {
  return {
    id: project.id,
    name: project.name,
    total_spent: toAmount(project.total_spent_usd, currencies),
    attached_provider_keys: providerKeys.filter((key) => key.project_id === project.id).map(toProviderKey),
    created_at: project.created_at.toISOString(),
    updated_at: project.updated_at.toISOString(),
    webhook_url: project.webhook_url,
    is_webhook_enabled: project.is_webhook_enabled,
    can_edit: mayAct(project.role, 'admin'),
    role: project.role,
  };
}
