// Translates HTML, HTML Extract, Markdown, XML and Crypto.
import { addData, addForEach, addList, goesOnAfterErrors } from './data-node.js';
import { piecesOf } from './expressions.js';
import { objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { CRYPTO, HTML, MARKDOWN, XML } from './runtime/texts.js';

export function translateHtml(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const operation = textOf(parameters['operation']) ?? 'generateHtmlTemplate';
  if (operation === 'extractHtmlContent') return extract(at, true);
  if (operation === 'convertToHtmlTable') {
    const id = addData(at, {
      parts: [HTML],
      parameters: { options: objectOf(parameters['options']) },
      returns: '{ table: tableOf(items, parametersOf) }',
      failing: null,
    });
    return oneWay(id, at.resultPlace(id));
  }
  if (operation !== 'generateHtmlTemplate') throw new NotTranslatable(`its operation "${operation}" has no equivalent`);
  const html = textOf(parameters['html']);
  if (html === undefined) throw new NotTranslatable('it has no template');
  // n8n evaluates the expressions of a template although the template does not begin with `=`.
  const pieces = piecesOf(html).map(({ text, source }) =>
    source !== undefined || text.startsWith('=') ? `=${text}` : text,
  );
  return addForEach(at, {
    parts: [],
    parameters: { pieces },
    makes: "{ html: parameters.pieces.map(String).join('') }",
    failing: 'error',
    keepsItems: false,
  });
}

export function translateHtmlExtract(at: NodeTranslation): TranslatedNode {
  return extract(at, false);
}

/** `isNode`: true for the node HTML, false for HTML Extract, which the node HTML has replaced. */
function extract(at: NodeTranslation, isNode: boolean): TranslatedNode {
  const { parameters, node } = at;
  if ((parameters['sourceData'] ?? 'json') !== 'json') throw new NotTranslatable('it reads a file of an item');
  const how = { isNode, isFirst: node.version === 1, isPlain: node.version <= 1.1, goesOn: goesOnAfterErrors(at) };
  return addList(at, {
    parts: [HTML],
    parameters: {
      name: parameters['dataPropertyName'] ?? 'data',
      values: objectsOf(valueAt(parameters, 'extractionValues', 'values')),
      options: objectOf(parameters['options']),
    },
    returns: `extractHtml(items, parametersOf, ${JSON.stringify(how)})`,
  });
}

export function translateMarkdown(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const mode = textOf(parameters['mode']) ?? 'htmlToMarkdown';
  if (mode !== 'htmlToMarkdown' && mode !== 'markdownToHtml')
    throw new NotTranslatable(`its mode "${mode}" has no equivalent`);
  // n8n uses an older version of the Markdown library, which treats this option differently.
  if (mode === 'htmlToMarkdown' && (valueAt(parameters, 'options', 'ignore') ?? '') !== '')
    at.warn('options.ignore: n8n keeps elements that Markdown has a form for. Here they are left out.');
  return addForEach(at, {
    parts: [MARKDOWN],
    parameters: {
      html: parameters['html'] ?? '',
      markdown: parameters['markdown'] ?? '',
      target: parameters['destinationKey'] ?? 'data',
      options: objectOf(parameters['options']),
    },
    makes: `markdownItem(item, parameters, ${JSON.stringify(mode)})`,
    failing: 'error',
  });
}

export function translateXml(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const mode = textOf(parameters['mode']) ?? 'xmlToJson';
  if (mode !== 'xmlToJson' && mode !== 'jsonToxml') throw new NotTranslatable(`its mode "${mode}" has no equivalent`);
  return addList(at, {
    parts: [XML],
    parameters: { name: parameters['dataPropertyName'] ?? 'data', options: objectOf(parameters['options']) },
    returns: `xmlItems(items, parametersOf, ${JSON.stringify({ mode, goesOn: goesOnAfterErrors(at) })})`,
  });
}

const ACTIONS: ReadonlySet<string> = new Set(['generate', 'hash', 'hmac']);

export function translateCrypto(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const action = textOf(parameters['action']) ?? 'hash';
  if (action === 'sign') throw new NotTranslatable('it signs with a private key, and credentials are not taken over');
  if (!ACTIONS.has(action)) throw new NotTranslatable(`its action "${action}" has no equivalent`);
  if (action !== 'generate' && parameters['binaryData'] === true)
    throw new NotTranslatable('it reads a file of an item');
  const secret = parameters['secret'];
  const isLiteral = action === 'hmac' && textOf(secret)?.startsWith('=') !== true;
  if (isLiteral) at.warn('Fill in "secret" of its inputs: credentials are not taken over.');
  return addForEach(at, {
    parts: [CRYPTO],
    parameters: {
      target: parameters['dataPropertyName'] ?? 'data',
      type: parameters['type'] ?? 'MD5',
      value: parameters['value'] ?? '',
      encoding: parameters['encoding'] ?? 'hex',
      encodingType: parameters['encodingType'] ?? 'uuid',
      length: parameters['stringLength'] ?? 32,
      ...(action === 'hmac' && !isLiteral && { secret }),
    },
    makes: `cryptoItem(item, parameters, ${JSON.stringify(action)})`,
    failing: 'error',
    ...(isLiteral && { inputs: { secret: '' } }),
  });
}
