import { copyFromMarketplace } from '../../db/marketplace/marketplace-copies-repository.js';
import { findWorkflow, type MemberWorkflow } from '../../db/workflows/workflows-repository.js';
import { createMasker } from '../../graph/mask.js';
import { replaceCredentials } from '../../graph/public-drawing.js';
import type { AppDeps } from '../deps.js';
import { notFound } from '../http/errors.js';

/**
 * Returns the caller's copy, creating it if needed, or the original for its author. Throws 404. A copy starts with
 * empty credentials: `********` in the published drawing stands for secrets that stay with the source.
 */
export async function copyWorkflow({ db }: AppDeps, slug: string, userId: number): Promise<MemberWorkflow> {
  const copyId = await copyFromMarketplace(db, { slug, userId }, (published) => {
    const { drawing, literals } = replaceCredentials(published, '');
    // The value of a credential may also occur elsewhere in the drawing.
    return JSON.stringify(createMasker(literals).json(drawing));
  });
  const workflow = copyId === undefined ? undefined : await findWorkflow(db, copyId, userId);
  if (workflow === undefined) throw notFound();
  return workflow;
}
