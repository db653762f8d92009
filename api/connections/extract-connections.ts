// Moves the literal credentials of a project's drawings into connections (docs/use/connections.md, "Export, import and
// copies").
import { openDrawing } from '../../acceptance/opened-drawing.js';
import { SYSTEM } from '../../db/audit/audit-entry.js';
import { recordChange } from '../../db/audit/record-change.js';
import { insertConnection, MOST_CONNECTIONS, pageOfConnections } from '../../db/connections/connections-repository.js';
import type { Database, Db } from '../../db/core/client.js';
import { reserveId } from '../../db/core/reserve-id.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { lockProject } from '../../db/projects/lock-project.js';
import {
  changeStored,
  findDrawing,
  workflowIdsOf,
  type StoredDrawing,
} from '../../db/workflows/workflows-repository.js';
import {
  findCredentialMoves,
  leaveMove,
  moveCredentials,
  type CredentialLeft,
  type CredentialMove,
} from '../../graph/moved-credentials.js';
import { cutText } from '../../graph/cut-text.js';
import type { Environment } from '../../config/environment.js';
import { ApiError } from '../http/errors.js';
import { sealUpdate } from '../workflows/drawing-secrets.js';
import { checkEntered, type Entered } from './connection-body.js';
import { openEntered } from './connection-view.js';

interface ExtractDeps {
  db: Database;
  secretBox: SecretBox;
  config: Pick<Environment, 'addressRules'>;
}

/** The credentials of a workflow that were moved or left, without their values. */
export interface ExtractedWorkflow {
  id: number;
  title: string;
  moved: { node: string; headers: string[]; connection: { id: number | null; name: string; is_new: boolean } }[];
  left: { node: string; header: string; reason: string }[];
  /**
   * Set for a published workflow whose drawing was changed: its published drawing comes from a run and changes only
   * with a new publication.
   */
  published_drawing_unchanged?: true;
}

/**
 * Moves the credentials of one workflow after the other, each in its own transaction. Returns the workflows that have
 * credentials. If the process dies, some workflows are finished, and the next call finds the others. With `isDryRun`
 * nothing is changed.
 */
export async function extractConnections(
  deps: ExtractDeps,
  { projectId, isDryRun }: { projectId: number; isDryRun: boolean },
): Promise<ExtractedWorkflow[]> {
  const done: ExtractedWorkflow[] = [];
  const known = await readKnown(deps.db, deps.secretBox, projectId);
  for (const id of await workflowIdsOf(deps.db, projectId)) {
    const stored = await findDrawing(deps.db, id);
    const plan = stored && toPlan(deps, stored, known);
    if (plan === undefined || plan.moves.length + plan.left.length === 0) continue;
    const extracted = isDryRun || plan.moves.length === 0 ? toExtracted(stored!, plan) : await extract(deps, id);
    if (extracted !== undefined) done.push(extracted);
  }
  return done;
}

/**
 * Changes the drawing like a PATCH. Takes the locks in the order that all changes keep: that of `recordChange`, that of
 * the project, that of the workflow.
 */
function extract({ db, secretBox, config }: ExtractDeps, workflowId: number): Promise<ExtractedWorkflow | undefined> {
  const change = { action: 'workflow.changed', type: 'workflow', doer: SYSTEM, touched: ['data'] } as const;
  const key = { id: workflowId };
  const keyOf = (made?: ExtractedWorkflow) => (made === undefined || made.moved.length === 0 ? undefined : key);
  return recordChange(db, { ...change, key, keyOf }, async (transaction) => {
    const before = await findDrawing(transaction, workflowId);
    if (before === undefined || !(await lockProject(transaction, before.project_id))) return undefined;
    const known = await readKnown(transaction, secretBox, before.project_id);
    let extracted: ExtractedWorkflow | undefined;
    await changeStored(transaction, workflowId, null, async (stored) => {
      const plan = toPlan({ secretBox, config }, stored, known);
      for (const made of plan.made) await store(transaction, secretBox, stored.project_id, made);
      extracted = toExtracted(stored, plan);
      if (plan.moves.length === 0) return undefined;
      const moved = moveCredentials(
        plan.drawing,
        plan.moves.map((move) => ({ ...move, connection: move.to.id! })),
      );
      const { sealed, isNewVersion } = sealUpdate(secretBox, moved, stored);
      if (stored.is_published) extracted.published_drawing_unchanged = true;
      return { fields: sealed, isNewVersion };
    });
    return extracted;
  });
}

/** A connection of the project, or one that is about to be created. */
interface Known {
  /** Null until it is created. */
  id: number | null;
  name: string;
  /** Equal for connections with the same origins, names and values; undefined for kinds other than `header`. */
  same?: string | undefined;
}

interface Made extends Known {
  entered: Entered;
}

interface Plan {
  drawing: Record<string, unknown>;
  moves: (CredentialMove & { to: Known })[];
  made: Made[];
  left: CredentialLeft[];
}

/**
 * Finds or plans a connection for each move, and adds the planned ones to `known`. Leaves the credentials of a move for
 * which no connection can be made.
 */
function toPlan({ secretBox, config }: Omit<ExtractDeps, 'db'>, stored: StoredDrawing, known: Known[]): Plan {
  const { drawing } = openDrawing(secretBox, stored);
  const { moves, left } = findCredentialMoves(drawing);
  const plan: Plan = { drawing, moves: [], made: [], left: [...left] };
  for (const move of moves) {
    const { origin, headers } = move;
    const same = sameness(
      [origin],
      headers.map(({ name }) => name),
      headers.map(({ value }) => value),
    );
    const here = known.find((connection) => connection.same === same);
    if (here !== undefined) {
      plan.moves.push({ ...move, to: here });
      continue;
    }
    const entered = enter(config, move);
    const reason = known.length >= MOST_CONNECTIONS ? `The project has ${MOST_CONNECTIONS} connections.` : entered;
    if (typeof reason === 'string') {
      plan.left.push(...leaveMove(move, reason));
      continue;
    }
    const made = { id: null, name: freeName(new URL(origin).host, known), same, entered: reason };
    known.push(made);
    plan.made.push(made);
    plan.moves.push({ ...move, to: made });
  }
  return plan;
}

/** Returns the connection as people would enter it, or the reason why it would be refused. */
function enter(config: ExtractDeps['config'], { origin, headers }: CredentialMove): Entered | string {
  const [names, values] = [headers.map(({ name }) => name), headers.map(({ value }) => value)];
  const isOne = headers.length === 1;
  try {
    return checkEntered({ config }, 'header', {
      origins: [origin],
      settings: isOne ? { name: names[0] } : { names },
      secrets: isOne ? { value: values[0] } : { values },
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `No connection can hold it: ${Object.values(error.fields ?? {})
      .flat()
      .join(' ')}`;
  }
}

async function store(transaction: Db, secretBox: SecretBox, projectId: number, made: Made): Promise<void> {
  const { name, entered } = made;
  const { secrets, ...rest } = entered;
  const id = await reserveId(transaction, 'connections');
  const secretsEnc = secretBox.seal(JSON.stringify(secrets), 'connection-secrets', projectId, id);
  const change = { action: 'connection.created', type: 'connection', doer: SYSTEM, isMade: true } as const;
  await recordChange(transaction, { ...change, keyOf: () => ({ id, projectId }) }, async (trx) => {
    const fields = { id, projectId, name, kind: 'header', ...rest, secretsEnc, status: 'ready' } as const;
    const outcome = await insertConnection(trx, fields);
    if (typeof outcome === 'string') throw new Error(`The connection ${name} could not be made: ${outcome}.`);
  });
  made.id = id;
}

async function readKnown(db: Db, secretBox: SecretBox, projectId: number): Promise<Known[]> {
  const { connections } = await pageOfConnections(db, { projectId, limit: MOST_CONNECTIONS, offset: 0 });
  return connections.map(({ id, name, kind, origins, settings, secretsEnc }) => {
    if (kind !== 'header') return { id, name };
    const secrets = openEntered(secretBox, { id, projectId, secretsEnc });
    const listOf = (many: unknown, one: unknown) => (Array.isArray(many) ? many : [one]) as string[];
    const same = sameness(
      origins,
      listOf(settings['names'], settings['name']),
      listOf(secrets['values'], secrets['value']),
    );
    return { id, name, same };
  });
}

/** Ignores the case and the order of the names. */
function sameness(origins: readonly string[], names: readonly string[], values: readonly string[]): string {
  const pairs = names.map((name, index) => JSON.stringify([name.toLowerCase(), values[index]]));
  return JSON.stringify([origins, pairs.toSorted()]);
}

const MOST_CHARACTERS = 90;

function freeName(host: string, known: readonly Known[]): string {
  const used = new Set(known.map(({ name }) => name));
  const name = cutText(host, MOST_CHARACTERS);
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name} ${count}`;
    if (!used.has(candidate)) return candidate;
  }
}

function toExtracted({ id, title }: StoredDrawing, plan: Plan): ExtractedWorkflow {
  const isNew = new Set<Known>(plan.made);
  const place = (nodeId: string, owner: string) => (owner === '' ? nodeId : `${nodeId} ${owner}`);
  return {
    id,
    title,
    moved: plan.moves.map(({ nodeId, owner, headers, to }) => ({
      node: place(nodeId, owner),
      headers: headers.map(({ name }) => name),
      connection: { id: to.id, name: to.name, is_new: isNew.has(to) },
    })),
    left: plan.left.map(({ nodeId, path, reason }) => ({ node: nodeId, header: path, reason })),
  };
}
