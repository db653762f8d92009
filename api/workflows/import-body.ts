// Reads the file of an import: one of this service, or one of n8n.
import { z } from 'zod';
import { emptyFiles } from '../../graph/emptied-files.js';
import { MAX_NODES } from '../../graph/document.js';
import { emptyMasked, EXPORT_FORMAT } from '../../graph/exported-drawing.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { withCheckBudget } from '../../graph/check-budget.js';
import { cutText } from '../../graph/cut-text.js';
import { isN8nFile, objectsOf, type ImportWarning } from '../../n8n/n8n-file.js';
import { TooLargeFile, translateN8n, type TranslatedFile } from '../../n8n/translate-n8n.js';
import { withRemarks } from './import-remarks.js';
import { readConnections } from './ported-connections.js';
import { readServices } from './ported-services.js';
import { documentedAs } from '../http/documented-as.js';
import { invalidFields } from '../http/errors.js';
import { parseFields } from '../http/field-errors.js';
import { drawingBody } from './workflow-body.js';

export interface ImportedFile {
  title: string;
  description: string;
  data: JsonObject;
  /** The titles of the called workflows in the source project, by the ids that the drawing calls. */
  calledTitles: ReadonlyMap<number, string>;
  /** The connections that the drawing names, by the refs (`c1`) that the export has put in place of their ids. */
  connections: ReadonlyMap<string, { name: string; kind: string }>;
  /** The names of the project's services that the drawing uses, by the refs (`s1`) that stand for their ids in it. */
  services: ReadonlyMap<string, string>;
  warnings: ImportWarning[];
}

const MAX_TITLE = 255;
const MAX_DESCRIPTION = 1000;
const UNTITLED = 'Imported workflow';

/** The keys under which n8n's API and its templates nest a workflow. */
const WRAPPERS = ['workflow', 'data'];
const MAX_WRAPPERS = 3;

/** zod does not copy the file, because its copy would lack keys of the drawing, such as `__proto__`. */
const file = z.unknown().transform((value, context): JsonObject => {
  const only = onlyOf(value);
  if (isObject(only)) return only;
  context.addIssue({ code: 'custom', message: 'The file is no JSON object.' });
  return z.NEVER;
});

export const importBody = documentedAs(file, {
  type: ['object', 'array'],
  description:
    `What an export answers (\`format\` is \`${EXPORT_FORMAT}\`), or a workflow as n8n exports it, which has no \`format\`. ` +
    'A drawing without anything around it is taken, too, and so is a list of one file.',
  items: {},
  properties: {
    format: { type: 'string', examples: [EXPORT_FORMAT] },
    title: { type: 'string' },
    description: { type: 'string' },
    data: { type: 'object' },
    name: { type: 'string', description: 'The title, in files of n8n' },
    nodes: { type: 'array', items: {} },
    connections: { description: 'The connections that the drawing names; in files of n8n its links' },
  },
});

interface ImportReading {
  /** Called for a file of n8n. */
  translate?: (foreign: JsonObject) => TranslatedFile | Promise<TranslatedFile>;
  /** Does `work` in the queue for large work, because reading a large drawing takes long. */
  inTurn?: <T>(work: () => T) => Promise<T>;
}

/** Throws a 400 that explains the error in the file. */
export async function readImport(
  sent: JsonObject,
  { translate = translateHere, inTurn = async (work) => work() }: ImportReading = {},
): Promise<ImportedFile> {
  const { format } = sent;
  if (format !== undefined && format !== EXPORT_FORMAT) throw wrong('format', toFormatMessage(format));
  const ofN8n = findN8nFile(sent, MAX_WRAPPERS);
  if (ofN8n !== undefined) {
    checkNodes(ofN8n['nodes']);
    const translated = await translate(ofN8n);
    return inTurn(() => readN8n(translated));
  }
  // Without `format`, the file is a drawing by itself, or an object with `title` and `data` from an earlier console.
  const hasFrame = format !== undefined || sent['nodes'] === undefined;
  return inTurn(() => readOwn(hasFrame ? sent : { data: sent }));
}

/** Unwraps a list of one file, because n8n's command line writes lists. */
function onlyOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  if (value.length > 1) {
    const message = `The file is a list of ${value.length} workflows. Import them one by one.`;
    throw invalidFields({ non_field_errors: [message] });
  }
  return value[0];
}

/** `wrappers`: the number of objects that may enclose the file. A workflow without a name gets that of its wrapper. */
function findN8nFile(value: unknown, wrappers: number): JsonObject | undefined {
  if (!isObject(value) || value['format'] !== undefined) return undefined;
  if (Array.isArray(value['nodes'])) return isN8nFile(value) ? value : undefined;
  if (wrappers === 0) return undefined;
  for (const wrapper of WRAPPERS) {
    const found = findN8nFile(onlyOf(ownValue(value, wrapper)), wrappers - 1);
    if (found !== undefined) return { ...found, name: found['name'] ?? value['name'] ?? value['title'] };
  }
  return undefined;
}

function toFormatMessage(format: unknown): string {
  const shown = typeof format === 'string' ? `"${cutText(format, 60)}"` : 'of the file';
  return `The format ${shown} is not known: it is "${EXPORT_FORMAT}", and files of n8n name none.`;
}

function readOwn({ format, title, description, data, workflows, connections, services }: JsonObject): ImportedFile {
  const { data: drawing } = parseFields(z.object({ data: drawingBody }), { data });
  // An export of this service may have a drawing without nodes.
  if (format === undefined || drawing['nodes'] !== undefined) checkNodes(drawing['nodes'], format !== undefined);
  const masked = emptyMasked(drawing);
  const files = emptyFiles(masked.drawing);
  return {
    title: toTitle('title', title),
    description: typeof description === 'string' ? cutText(description, MAX_DESCRIPTION) : '',
    data: files.drawing,
    calledTitles: readCalled(workflows),
    connections: readConnections(connections),
    services: readServices(services),
    warnings: [...masked.emptied, ...files.emptied],
  };
}

function readN8n({ title, drawing, warnings }: TranslatedFile): ImportedFile {
  const { data } = parseFields(z.object({ data: drawingBody }), { data: drawing });
  return {
    title: toTitle('name', title),
    description: '',
    data: withRemarks(data, warnings),
    calledTitles: new Map(),
    connections: new Map(),
    services: new Map(),
    warnings,
  };
}

export function translateHere(foreign: JsonObject): TranslatedFile {
  try {
    return withCheckBudget(() => translateN8n(foreign));
  } catch (error) {
    throw error instanceof TooLargeFile ? tooLargeToTranslate(error.message) : error;
  }
}

export function tooLargeToTranslate(message: string): Error {
  return wrong('nodes', message);
}

function checkNodes(nodes: unknown, mayBeEmpty = false): void {
  if (nodes === undefined || (Array.isArray(nodes) && nodes.length === 0 && !mayBeEmpty)) {
    throw wrong('nodes', 'The file has no nodes.');
  }
  if (!Array.isArray(nodes)) throw wrong('nodes', 'The nodes of the file are no list.');
  const wrongAt = nodes.findIndex((node) => !isObject(node));
  if (wrongAt >= 0) throw wrong('nodes', `The entry ${wrongAt + 1} of the nodes is no object.`);
  if (nodes.length > MAX_NODES) {
    throw wrong('nodes', `The file has ${nodes.length} nodes; a drawing has at most ${MAX_NODES}.`);
  }
}

function toTitle(field: string, title: unknown): string {
  if (title === undefined || title === null) return UNTITLED;
  if (typeof title !== 'string') throw wrong(field, 'Not a valid string.');
  const text = cutText(title.trim(), MAX_TITLE).trim();
  return text === '' ? UNTITLED : text;
}

function readCalled(workflows: unknown): Map<number, string> {
  return new Map(
    objectsOf(workflows).flatMap((workflow): [number, string][] => {
      const [id, title] = [ownValue(workflow, 'id'), ownValue(workflow, 'title')];
      return typeof id === 'number' && typeof title === 'string' ? [[id, title]] : [];
    }),
  );
}

function wrong(field: string, message: string): Error {
  return invalidFields({ [field]: [message] });
}
