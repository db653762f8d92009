import { z } from 'zod';
import type { UserRow } from '../../db/projects/users-repository.js';

/** The user of the credentials, as they see themselves. */
export const meSchema = z.object({
  id: z.int(),
  name: z.string(),
  email: z.string().nullable(),
  api_access: z.boolean().describe("Whether the user's API keys are admitted."),
  is_admin: z.boolean().describe('May manage users. It gives no access to projects.'),
});

export const userSchema = meSchema.extend({
  is_active: z.boolean().describe('False: keys, tokens and sign-ins of the user are refused.'),
  created_at: z.iso.datetime(),
});

export function toMe({ id, name, email, api_access, is_admin }: UserRow): z.infer<typeof meSchema> {
  return { id, name, email, api_access, is_admin };
}

export function toUser(user: UserRow): z.infer<typeof userSchema> {
  return { ...toMe(user), is_active: user.is_active, created_at: user.created_at.toISOString() };
}
