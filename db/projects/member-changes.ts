// Changes of a project's members over the API. The lock on the project's row serializes them, so that the actor's role
// is the current one, and of two owners who leave at the same time one stays.
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { Role } from '../core/tables.js';
import { lockProject } from './lock-project.js';
import { removeMember, setMember } from './members-repository.js';

/** `not_found`: there is no such member or no such project, or the actor is no longer a member. */
export type MemberOutcome = 'done' | 'not_found' | 'forbidden' | 'already_member' | 'last_owner';

interface MemberChange {
  projectId: number;
  /** The user who requests the change. */
  actorId: number;
  userId: number;
}

interface Standing {
  actor: Role;
  member: Role | undefined;
  isLastOwner: boolean;
}

/** The caller must have checked that the user exists. */
export function addMember(db: Db, change: MemberChange & { role: Role }): Promise<MemberOutcome> {
  const { projectId, userId, role } = change;
  return underLock(db, change, async (transaction, { actor, member }) => {
    if (!mayAssign(actor, role)) return 'forbidden';
    if (member !== undefined) return 'already_member';
    await setMember(transaction, projectId, userId, role);
    return 'done';
  });
}

export function changeRole(db: Db, change: MemberChange & { role: Role }): Promise<MemberOutcome> {
  const { projectId, userId, role } = change;
  return underLock(db, change, async (transaction, { actor, member, isLastOwner }) => {
    if (!mayAssign(actor, role)) return 'forbidden';
    if (member === undefined) return 'not_found';
    if (!mayAssign(actor, member)) return 'forbidden';
    if (isLastOwner && role !== 'owner') return 'last_owner';
    await setMember(transaction, projectId, userId, role);
    return 'done';
  });
}

/** Every member may leave, except the last owner. */
export function dropMember(db: Db, change: MemberChange): Promise<MemberOutcome> {
  const { projectId, actorId, userId } = change;
  return underLock(db, change, async (transaction, { actor, member, isLastOwner }) => {
    const isLeaving = actorId === userId;
    if (!isLeaving && !mayAssign(actor, 'admin')) return 'forbidden';
    if (member === undefined) return 'not_found';
    if (!isLeaving && !mayAssign(actor, member)) return 'forbidden';
    if (isLastOwner) return 'last_owner';
    await removeMember(transaction, projectId, userId);
    return 'done';
  });
}

function mayAssign(actor: Role, role: Role): boolean {
  return actor === 'owner' || (actor === 'admin' && role !== 'owner');
}

function underLock(
  db: Db,
  { projectId, actorId, userId }: MemberChange,
  judge: (transaction: Db, standing: Standing) => Promise<MemberOutcome>,
): Promise<MemberOutcome> {
  return inTransaction(db, async (transaction) => {
    if (!(await lockProject(transaction, projectId))) return 'not_found';
    const involved = await transaction
      .selectFrom('project_members')
      .select(['user_id', 'role'])
      .where('project_id', '=', projectId)
      .where((eb) => eb.or([eb('user_id', 'in', [actorId, userId]), eb('role', '=', 'owner')]))
      .execute();
    const roles = new Map(involved.map((row) => [row.user_id, row.role]));
    const actor = roles.get(actorId);
    if (actor === undefined) return 'not_found';
    const owners = involved.filter(({ role }) => role === 'owner');
    const isLastOwner = owners.length === 1 && owners[0]?.user_id === userId;
    return judge(transaction, { actor, member: roles.get(userId), isLastOwner });
  });
}
