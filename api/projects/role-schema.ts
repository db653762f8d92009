import { z } from 'zod';
import type { Role } from '../../db/core/tables.js';

/** The role of the caller in a project, or of a member. */
export const roleSchema = z.enum(['owner', 'admin', 'editor', 'viewer'] satisfies Role[]).meta({ id: 'Role' });
