import {
  copyFromMarketplace,
  measurePublished,
  type SealedRunSecrets,
} from '../../db/marketplace/marketplace-copies-repository.js';
import { findProjectRole } from '../../db/projects/members-repository.js';
import type { Reach } from '../../db/access/reach.js';
import { openRunSecrets } from '../../db/runs/run-contents.js';
import { findWorkflow, type MemberWorkflow } from '../../db/workflows/workflows-repository.js';
import { copyDrawing } from '../../graph/copied-drawing.js';
import { createMasker } from '../../graph/mask.js';
import { credentialLiteralsIn } from '../../graph/secrets.js';
import { MAX_IMPORT_WARNINGS, type ImportWarning } from '../../n8n/n8n-file.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { PARSED_COPIES } from '../../memory/json-copies.js';
import type { AuditTrail } from '../http/audit-rule.js';
import type { Asker } from '../http/heavy-work.js';
import type { MarketplaceDeps } from './deps.js';
import { orNotFound, permissionDenied } from '../http/errors.js';
import { mayAct } from '../../acceptance/roles.js';

/**
 * Returns the caller's copy, creating it if needed, or the original for its author. Throws 404 if no published workflow
 * has the slug, and 403 if the key is restricted to a project in which its user may not create workflows. A copy starts
 * without the files, connections and credentials of the source. A large drawing waits in the queue of
 * api/http/heavy-work.ts.
 */
export async function copyWorkflow(
  deps: MarketplaceDeps,
  { audit, memory, ...asker }: Asker & { audit: AuditTrail; memory: ByteLease },
  slug: string,
  reach: Reach,
): Promise<Copy> {
  const bytes = await measurePublished(deps.db, slug);
  await memory.resize(memory.bytes + PARSED_COPIES * bytes);
  return deps.heavyWork.run(asker, bytes, () => copyInTurn(deps, audit, slug, reach));
}

interface Copy {
  workflow: MemberWorkflow;
  warnings: ImportWarning[];
}

async function copyInTurn(deps: MarketplaceDeps, audit: AuditTrail, slug: string, reach: Reach): Promise<Copy> {
  const { db, secretBox } = deps;
  let warnings: ImportWarning[] = [];
  await checkTarget(deps, reach);
  const toCopy = (published: Record<string, unknown>, sealed: SealedRunSecrets | undefined): string => {
    const { drawing, literals, lacks } = copyDrawing(published);
    warnings = lacks;
    const secrets = sealed && openRunSecrets(secretBox, sealed.secrets_enc, [sealed.project_id, sealed.id]);
    // The value of a credential may also occur elsewhere in the drawing.
    return JSON.stringify(createMasker([...literals, ...credentialLiteralsIn(secrets ?? {})]).json(drawing));
  };
  const copied = await audit.change((trx) => copyFromMarketplace(trx, slug, reach, toCopy), {
    keyOf: (made) => (made?.isNew === true ? { id: made.workflowId } : undefined),
  });
  const workflow = orNotFound(copied === undefined ? undefined : await findWorkflow(db, copied.workflowId, reach));
  return { workflow, warnings: warnings.slice(0, MAX_IMPORT_WARNINGS) };
}

async function checkTarget({ db }: MarketplaceDeps, reach: Reach): Promise<void> {
  if (reach.projectId === undefined) return;
  const access = await findProjectRole(db, reach.projectId, reach);
  if (access === undefined || !mayAct(access.role, 'editor')) throw permissionDenied();
}
