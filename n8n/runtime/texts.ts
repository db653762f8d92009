// HTML, Markdown, XML and cryptography, by the libraries of the sandbox (docs/use/code.md).

/**
 * `extractHtml(items, parametersOf, how)`: an item for each text of HTML.
 * `tableOf(items, parametersOf)`: one table.
 */
export const HTML = String.raw`
const htmlOf = (item, name, how) => {
  const hasName = isObject(item) && Object.hasOwn(item, name);
  const value = how.isNode && how.isFirst ? own(item, hasName ? name : name.replace(/^\["?|"?\]$/g, '')) : get(item, name);
  if (value === undefined) throw new Error('No property named "' + name + '" exists!');
  return Array.isArray(value) ? value : [value];
};
const textOfHtml = (found, { skipSelectors = '' }, how) => {
  if (!how.isNode) return found.text();
  if (how.isPlain) return found.text() || undefined;
  const selectors = skipSelectors === '' ? [] : skipSelectors.split(',').map((selector) => ({ selector: selector.trim(), format: 'skip' }));
  return htmlToText.convert(found.html() || '', selectors.length === 0 ? undefined : { selectors });
};
const valueOfHtml = (found, wanted, options, how) => {
  const value = {
    attribute: () => found.attr(wanted.attribute ?? ''),
    html: () => found.html() || undefined,
    text: () => textOfHtml(found, wanted, how),
    value: () => found.val(),
  }[wanted.returnValue ?? 'text']();
  if (value === undefined) return value;
  const isTrimmed = how.isNode ? options.trimValues : options.trimValues !== false;
  const trimmed = isTrimmed ? value.trim() : value;
  return options.cleanUpText && how.isNode
    ? trimmed.replace(/^\s+|\s+$/g, '').replace(/(\r\n|\n|\r)/gm, '').replace(/\s+/g, ' ') : trimmed;
};
const extractHtml = (items, parametersOf, how) => items.flatMap((item, index) => {
  try {
    const { name, values, options } = parametersOf(index);
    return htmlOf(item, name, how).map((html) => {
      const $ = cheerio.load(html);
      const made = {};
      for (const wanted of values) {
        const found = $(wanted.cssSelector ?? '');
        const value = wanted.returnArray
          ? found.toArray().map((element) => valueOfHtml($(element), wanted, options, how)) : valueOfHtml(found, wanted, options, how);
        put(made, wanted.key ?? '', value);
      }
      return made;
    });
  } catch (error) {
    if (!how.goesOn) throw error;
    return [{ error: error.message }];
  }
});
const tableOf = (items, parametersOf) => {
  const { options } = parametersOf(0);
  const [table, head, cell] = options.customStyling ? ['', '', ''] : [
    "style='border-spacing:0; font-family:helvetica,arial,sans-serif'",
    "style='margin:0; padding:7px 20px 7px 0px; border-bottom:1px solid #eee; text-align:left; color:#888; font-weight:normal'",
    "style='margin:0; padding:7px 20px 7px 0px; border-bottom:1px solid #eee'",
  ];
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const capital = (name) => (options.capitalize
    ? name.split('_').filter((word) => word).map((word) => word[0].toUpperCase() + word.slice(1)).join(' ') : name);
  const rows = items.map((item, index) => {
    const { rowAttributes = '', cellAttributes = '' } = parametersOf(index).options;
    const cells = names.map((name) => {
      const value = item[name];
      const text = typeof value === 'boolean' ? '<input type="checkbox" ' + (value ? 'checked="checked"' : '') + '/>' : value;
      return '<td ' + cell + ' ' + cellAttributes + '>' + text + '</td>';
    });
    return '<tr  ' + rowAttributes + '>' + cells.join('') + '</tr>';
  });
  return '<table ' + table + ' ' + (options.tableAttributes || '') + '>'
    + (options.caption ? '<caption>' + options.caption + '</caption>' : '')
    + '<thead ' + head + ' ' + (options.headerAttributes || '') + '><tr>'
    + names.map((name) => '<th>' + capital(name) + '</th>').join('') + '</tr></thead><tbody>' + rows.join('') + '</tbody></table>';
};
`;

/** `markdownItem(item, parameters, mode)`. */
export const MARKDOWN = String.raw`
const pairOf = (value) => (isObject(value) && Object.keys(value).length > 0 ? [value.pattern, value.replacement] : undefined);
const markdownOf = (html, given) => {
  const options = {
    ...given,
    textReplace: given.textReplace?.values?.length > 0 ? given.textReplace.values.map(pairOf) : undefined,
    lineStartEscape: pairOf(given.lineStartEscape?.value),
    globalEscape: pairOf(given.globalEscape?.value),
    ignore: given.ignore ? namesIn(given.ignore) : undefined,
    blockElements: given.blockElements ? namesIn(given.blockElements) : undefined,
  };
  return htmlToMarkdown.translate(html, Object.fromEntries(Object.entries(options).filter(([, value]) => value)));
};
const htmlOfMarkdown = (markdown, options) => {
  const converter = new showdown.Converter();
  for (const [name, value] of Object.entries(options)) converter.setOption(name, value);
  return converter.makeHtml(markdown);
};
const markdownItem = (item, { html, markdown, target, options }, mode) => set(
  copy(item), target, mode === 'markdownToHtml' ? htmlOfMarkdown(String(markdown), options) : markdownOf(String(html), options));
`;

/** `xmlItems(items, parametersOf, how)`. As in n8n, items that fail are left out if the node goes on. */
export const XML = String.raw`
const ofXml = (item, name, options) => {
  const text = own(item, name);
  if (text === undefined) throw new Error('Item has no JSON property called "' + name + '"');
  let read = {};
  new xml2js.Parser({ mergeAttrs: true, explicitArray: false, ...options }).parseString(text, (error, value) => { read = { error, value }; });
  if (read.error) throw read.error;
  return read.value;
};
const xmlItems = (items, parametersOf, { mode, goesOn }) => items.flatMap((item, index) => {
  try {
    const { name, options } = parametersOf(index);
    return [mode === 'xmlToJson' ? ofXml(item, name, options) : put({}, name, new xml2js.Builder(options).buildObject(item))];
  } catch (error) {
    if (!goesOn) throw error;
    return [];
  }
});
`;

/** `cryptoItem(item, parameters, action)`. */
export const CRYPTO = String.raw`
const random = ({ encodingType, length }) => {
  if (encodingType === 'uuid') return crypto.randomUUID();
  // More bytes than characters, because some are dropped below.
  const bytes = Array.from(crypto.randomBytes(Math.min(65536, 2 * Number(length) + 16)));
  const text = (codes) => String.fromCharCode(...codes);
  if (encodingType === 'ascii') return text(bytes.map((byte) => byte % 128)).slice(0, length);
  if (encodingType === 'hex') return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('').slice(0, length);
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return bytes.filter((byte) => byte < 248).map((byte) => letters[byte % 62]).join('').slice(0, length);
};
const cryptoItem = (item, parameters, action) => {
  const { target, type, value, encoding, secret = inputs.secret } = parameters;
  const made = {
    generate: () => random(parameters),
    hash: () => crypto.hash(type, value, encoding),
    hmac: () => crypto.hmac(type, secret, value, encoding),
  }[action]();
  return put(copy(item), target, made);
};
`;
