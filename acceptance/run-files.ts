// The files in the input and the drawing of a run; also those in stored inputs and in answers to human tasks.
// docs/use/files.md lists where files may be.
import type { Db } from '../db/core/client.js';
import { findFiles } from '../db/files/files-repository.js';
import { toFileValue } from '../files/file-value.js';
import { fileFieldOf, fileIdsIn, filesIn, givenFileIds, withFileFacts, type FileValue } from '../graph/file-values.js';
import type { RunInput } from '../graph/input.js';
import { isEmpty, isObject, ownValue, setOwn, type JsonObject } from '../graph/json.js';
import type { Plan } from '../graph/plan.js';
import { pushTo } from '../graph/push-to.js';
import type { NodeErrors } from '../graph/validate.js';

const UNKNOWN_FILE = 'The project has no such file';
const NO_FIELD = 'The trigger has no field for files with this ID';
const NO_FILE = 'Should be a file, or the id of one';
const NO_FILES = 'Should be a list of files, or of their ids';

export interface RunFiles {
  /** The input, in which each file of the project has the properties that the service stores. */
  input: RunInput;
  inputErrors: Record<string, string>[];
  /** Errors of nodes whose file doesn't exist in the project. */
  nodeErrors: NodeErrors;
  fileIds: string[];
}

interface FilesToResolve {
  projectId: number;
  fields: readonly JsonObject[];
  input: RunInput;
  /** The input fields whose files were uploaded with the request. */
  uploaded?: readonly string[] | undefined;
  /** The files that the nodes of the drawing refer to. */
  drawn?: readonly DrawnFile[];
}

/** A file that a node of a drawing refers to. */
export interface DrawnFile {
  nodeId: string;
  /** The path inside the node's data. */
  path: string;
  id: string;
}

export async function resolveRunFiles(db: Db, request: FilesToResolve): Promise<RunFiles> {
  const { projectId, fields, input, drawn = [], uploaded = [] } = request;
  const entered = fields.flatMap((field) => enteredFiles(field, input));
  const ids = new Set([
    ...fileIdsIn(input),
    ...entered.flatMap(({ ids: some }) => some ?? []),
    ...drawn.map(({ id }) => id),
  ]);
  if (ids.size === 0 && entered.length === 0) return { input, inputErrors: [], nodeErrors: {}, fileIds: [] };
  const found = await findFiles(db, projectId, [...ids]);
  const known = new Map(found.map((file) => [file.id, toFileValue(file)]));
  const filled = withFileFacts(input, known);
  const accepted = new Set(fields.filter((field) => fileFieldOf(field) !== undefined).map(({ id }) => id));
  const inputErrors: Record<string, string>[] = uploaded
    .filter((field) => !accepted.has(field))
    .map((field) => ({ [field]: NO_FIELD }));
  for (const { id, kind, ids: some } of entered) {
    const values = some?.map((fileId) => known.get(fileId));
    if (values === undefined) inputErrors.push({ [id]: kind === 'file' ? NO_FILE : NO_FILES });
    else if (!values.every(isKnown)) inputErrors.push({ [id]: UNKNOWN_FILE });
    else setOwn(filled, id, kind === 'file' ? values[0] : values);
  }
  const nodeErrors = new Map<string, Record<string, string>[]>();
  for (const { nodeId, path, id } of drawn) {
    if (!known.has(id) && TAKES_A_FILE.test(path)) pushTo(nodeErrors, nodeId, { [path]: UNKNOWN_FILE });
  }
  return { input: filled, inputErrors, nodeErrors: Object.fromEntries(nodeErrors), fileIds: [...known.keys()] };
}

function isKnown(value: FileValue | undefined): value is FileValue {
  return value !== undefined;
}

function enteredFiles(field: JsonObject, input: RunInput) {
  const { id } = field;
  const kind = fileFieldOf(field);
  const value = typeof id === 'string' ? ownValue(input, id) : undefined;
  if (kind === undefined || typeof id !== 'string' || isEmpty(value)) return [];
  return [{ id, kind, ids: givenFileIds(kind, value) }];
}

/**
 * The places of a node's data in which an unknown file is an error: `$file` and `$form` in the body of an HTTP node,
 * and the `files` of messages and human tasks. In any other place, such as a JSON body, a `file_id` is accepted even if
 * the project has no such file, because other services have files, too. Files among the values of an action are checked
 * when the node runs.
 */
const TAKES_A_FILE = /^(?:body\.\$file$|body\.\$form\.[^.]*(?:\.\d+)?$|(?:messages\.\d+\.)?files\.\d+$)/;

/** Returns the files of the nodes that the plan executes. */
export function filesOfNodes(drawing: JsonObject, plan: Pick<Plan, 'ids'>): DrawnFile[] {
  const running = new Set<unknown>(plan.ids);
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  return nodes
    .filter(({ id }) => running.has(id))
    .flatMap((node) => filesIn(node['data']).map((file) => ({ ...file, nodeId: String(node['id']) })));
}

/**
 * Returns the errors of nodes that name a file which the project does not have, in a place of `TAKES_A_FILE`. Nodes
 * that a run does not reach are checked, too.
 */
export async function fileErrors(db: Db, projectId: number, drawing: JsonObject): Promise<NodeErrors> {
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  const drawn = filesOfNodes(drawing, { ids: nodes.map(({ id }) => String(id)) });
  return (await resolveRunFiles(db, { projectId, fields: [], input: {}, drawn })).nodeErrors;
}
