// Translates Extract From File, Read PDF and Convert to File, and puts files into items.
import { addData, addList, goesOnAfterErrors } from './data-node.js';
import { rowOf } from './json-places.js';
import { objectOf, textOf } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { FILES } from './runtime/files.js';

function operationOf({ parameters }: NodeTranslation, byDefault: string): string {
  return textOf(parameters['operation']) ?? byDefault;
}

const EXTRACTED: ReadonlySet<string> = new Set([
  'csv',
  'html',
  'ods',
  'rtf',
  'xls',
  'xlsx',
  'pdf',
  'text',
  'xml',
  'fromJson',
  'binaryToPropery', // n8n's spelling
]);

export function translateExtractFromFile(at: NodeTranslation): TranslatedNode {
  return extract(at, operationOf(at, 'csv'));
}

export function translateReadPdf(at: NodeTranslation): TranslatedNode {
  return extract(at, 'pdf');
}

function extract(at: NodeTranslation, operation: string): TranslatedNode {
  const { parameters } = at;
  if (!EXTRACTED.has(operation)) throw new NotTranslatable(`its operation "${operation}" has no equivalent`);
  const options = objectOf(parameters['options']);
  if (operation === 'pdf')
    at.warn('Of a PDF there is its text here: its pages are one text, and its other facts are left out.');
  if ((options['encoding'] ?? 'utf8') !== 'utf8')
    at.warn('options.encoding: the encoding of a file is found by itself.');
  return addList(at, {
    parts: [FILES],
    parameters: {
      name: parameters['binaryPropertyName'] ?? 'data',
      target: parameters['destinationKey'] ?? 'data',
      options,
    },
    returns: `await extractFiles(items, parametersOf, ${JSON.stringify({ operation, goesOn: goesOnAfterErrors(at) })})`,
  });
}

const SHEETS: ReadonlySet<string> = new Set(['csv', 'html', 'ods', 'rtf', 'xls', 'xlsx']);
const OF_EACH: ReadonlySet<string> = new Set(['toText', 'toBinary']);

export function translateConvertToFile(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  const operation = operationOf(at, 'csv');
  const isOfEach = OF_EACH.has(operation) || (operation === 'toJson' && parameters['mode'] === 'each');
  if (!isOfEach && operation !== 'toJson' && !SHEETS.has(operation))
    throw new NotTranslatable(`its operation "${operation}" has no equivalent`);
  const options = objectOf(parameters['options']);
  if ((options['encoding'] ?? 'utf8') !== 'utf8') at.warn('options.encoding: files are written in UTF-8.');
  const name = parameters['binaryPropertyName'] ?? 'data';
  warnOfField(at, name);
  const word = JSON.stringify(operation);
  return addList(at, {
    parts: [FILES],
    parameters: { name, source: parameters['sourceProperty'] ?? '', options },
    // From version 1.1 on, `toBinary` always decodes its value as base64.
    returns: isOfEach
      ? `await convertEach(items, parametersOf, ${word}, ${node.version > 1})`
      : `await convertOnce(items, parametersOf, ${word})`,
  });
}

/** Adds a code node that puts the file of an answer into the item, or into the object of the expression `rest`. */
export function addFile(at: NodeTranslation, request: string, property: unknown, rest?: string): TranslatedNode {
  warnOfField(at, property);
  const id = addData(
    at,
    {
      parts: [],
      parameters: { name: property },
      returns: `set(${rest ?? 'copy(items[0] ?? {})'}, parametersOf(0).name, inputs.answer.file)`,
      failing: null,
      inputs: {
        answer: {
          file: `{{ ${request}.result.file }}`,
          headers: `{{ ${request}.result.headers }}`,
          statusCode: `{{ ${request}.result.status_code }}`,
        },
      },
    },
    'file',
  );
  at.link({ id: request, handle: null }, id);
  return { ...oneWay(id, { ...at.resultPlace(id), row: rowOf(at.json) }), entry: request, main: request };
}

function warnOfField(at: NodeTranslation, name: unknown): void {
  const shown = typeof name === 'string' && !name.startsWith('=') ? ` "${name}"` : '';
  at.warn(`The file of an item stands in its field${shown} here, and not beside its fields.`);
}
