// Reads the JavaScript of expressions and of code nodes, to find out what it needs from n8n. Nothing is executed.
import { parse, parseExpressionAt, type Node } from 'acorn';
import { isObject } from '../graph/json.js';

/** The things that a piece of JavaScript reads. */
export interface JavaScript {
  /** The names that n8n defines, such as `$json`. */
  names: ReadonlySet<string>;
  /** The used names that the code around the JavaScript defines. */
  own: ReadonlySet<string>;
  /** The names of the nodes whose data is read. */
  nodes: ReadonlySet<string>;
  /** The nodes whose paired item is read: the item that belongs to the current one. */
  paired: ReadonlySet<string>;
  /** The nodes whose first output is read, whichever output leads to the node that reads. */
  firstOutputs: ReadonlySet<string>;
  /** The variables that are set without a declaration, which strict mode forbids. */
  undeclared: ReadonlySet<string>;
  /** True if the data of the incoming items is read. */
  readsItems: boolean;
}

/** The reason why the JavaScript cannot run in a code node. */
export interface Unreadable {
  reason: string;
}

/** Names that the runtime defines (`runtime/core.ts`). */
const OF_N8N = new Set([
  '$json',
  '$data',
  '$itemIndex',
  '$position',
  '$runIndex',
  '$input',
  '$items',
  '$',
  '$node',
  '$if',
  '$ifEmpty',
  '$max',
  '$min',
  '$workflow',
  '$execution',
]);
/** Names that need the library for dates. */
export const OF_DATES: ReadonlySet<string> = new Set(['$now', '$today', 'DateTime', 'Duration', 'Interval']);
/** Names by which the data of the incoming items is read. */
export const OF_ITEMS: ReadonlySet<string> = new Set([
  '$json',
  '$data',
  '$input',
  '$items',
  'items',
  'item',
  'arguments',
]);
/** Names of n8n that only code nodes have. */
const OF_CODE = new Set(['items', 'item']);

/** Names that mean the same in n8n and in the sandbox. */
const OF_LANGUAGE = new Set(
  (
    'undefined NaN Infinity globalThis Object Array String Number Boolean BigInt Symbol Date RegExp JSON Math Map Set ' +
    'WeakMap WeakSet Promise Proxy Reflect Error TypeError RangeError SyntaxError EvalError URIError AggregateError ' +
    'ArrayBuffer DataView Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array ' +
    'Uint8ClampedArray BigInt64Array BigUint64Array parseInt parseFloat isNaN isFinite encodeURIComponent ' +
    'decodeURIComponent encodeURI decodeURI escape unescape console arguments luxon'
  ).split(' '),
);

/** Methods that n8n adds to texts, numbers, lists, objects and dates in expressions. The sandbox does not add them. */
const METHODS_OF_N8N = new Set(
  (
    'average chunk compact difference first intersection isEmpty isNotEmpty last max merge min pluck randomItem ' +
    'removeDuplicates renameKeys smartJoin sum toDateTime unique base64Decode base64Encode extractDomain extractEmail ' +
    'extractUrl extractUrlPath hash isDomain isEmail isNumeric isUrl parseJson quote removeMarkdown removeTags ' +
    'replaceSpecialChars toBoolean toFloat toInt toNumber toSentenceCase toSnakeCase toTitleCase toWholeNumber ' +
    'urlDecode urlEncode ceil floor format isEven isInteger isOdd round compareWith hasField isEmpty keepFieldsContaining ' +
    'removeField removeFieldsContaining toJsonString urlEncode beginningOf endOfMonth extract isBetween isDst isInLast ' +
    'isWeekend minus plus diffTo diffToNow append abs toDate toDecimalNumber'
  ).split(' '),
);
const ON_MATH = new Set(['max', 'min', 'ceil', 'floor', 'round', 'abs']);

const LIMITS = { ecmaVersion: 2023, allowAwaitOutsideFunction: true, allowReturnOutsideFunction: true } as const;
const MAX_NODES = 100_000;
const OTHER_OUTPUT = 'it reads another output or run of a node';
const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Reads the only expression of the text. `source` is the expression without what follows it. `own` are names that the
 * code around the expression defines.
 */
export function readExpression(
  text: string,
  own: ReadonlySet<string> = NO_NAMES,
): (JavaScript & { source: string }) | Unreadable {
  try {
    const options = { ...LIMITS, allowReturnOutsideFunction: false, preserveParens: true };
    const expression = parseExpressionAt(text, 0, options);
    if (!NOTHING.test(text.slice(expression.end))) return { reason: 'it is no single expression' };
    const read = new Reader(true, own).read(expression);
    return 'reason' in read ? read : { ...read, source: text.slice(expression.start, expression.end) };
  } catch {
    return { reason: 'it is no JavaScript' };
  }
}

/**
 * The end of an expression: a semicolon, spaces and comments. The pattern matches each comment in only one way, so that
 * matching takes time in proportion to the text.
 */
const NOTHING =
  /^(?:\s|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*+[^*/])*\*+\/)*(?:;(?:\s|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*+[^*/])*\*+\/)*)?$/;

export function readBody(source: string): JavaScript | Unreadable {
  try {
    return new Reader(false, NO_NAMES).read(parse(source, LIMITS));
  } catch {
    return { reason: 'it is no JavaScript' };
  }
}

/** A node of the syntax tree, of which any field may be read. */
type Syntax = Record<string, unknown>;

class Reader {
  readonly #isExpression: boolean;
  readonly #own: ReadonlySet<string>;
  readonly #used = new Set<string>();
  readonly #bound = new Set<string>();
  readonly #nodes = new Set<string>();
  readonly #paired = new Set<string>();
  readonly #firstOutputs = new Set<string>();
  readonly #assigned = new Set<string>();
  #reason: string | undefined;

  constructor(isExpression: boolean, own: ReadonlySet<string>) {
    this.#isExpression = isExpression;
    this.#own = own;
  }

  read(root: Node): JavaScript | Unreadable {
    const open: Syntax[] = [root as unknown as Syntax];
    for (let count = 0; open.length > 0; count += 1) {
      if (count > MAX_NODES) return { reason: 'it is too long' };
      this.#look(open.pop()!, open);
    }
    const free = [...this.#used].filter((name) => !this.#bound.has(name));
    const isKnown = (name: string): boolean =>
      OF_N8N.has(name) || OF_DATES.has(name) || OF_LANGUAGE.has(name) || this.#own.has(name);
    const undeclared = new Set(
      this.#isExpression ? [] : free.filter((name) => this.#assigned.has(name) && !isKnown(name) && !OF_CODE.has(name)),
    );
    const foreign = free.find(
      (name) => !isKnown(name) && !undeclared.has(name) && !(OF_CODE.has(name) && !this.#isExpression),
    );
    if (foreign !== undefined) return { reason: `it uses "${foreign}", which code nodes do not have` };
    if (this.#reason !== undefined) return { reason: this.#reason };
    return {
      names: new Set(free.filter((name) => OF_N8N.has(name) || OF_DATES.has(name))),
      own: new Set(free.filter((name) => this.#own.has(name))),
      nodes: this.#nodes,
      paired: this.#paired,
      firstOutputs: this.#firstOutputs,
      undeclared,
      readsItems: free.some((name) => OF_ITEMS.has(name)),
    };
  }

  #look(node: Syntax, open: Syntax[]): void {
    const { type } = node;
    if (type === 'Identifier') this.#used.add(String(node['name']));
    if (type === 'ThisExpression') this.#refuse('it uses "this"');
    if (type === 'ImportExpression') this.#refuse('it uses "import"');
    if (type === 'VariableDeclarator') this.#bind(node['id']);
    if (type === 'AssignmentExpression' && isIdentifier(node['left'])) this.#assigned.add(String(node['left']['name']));
    if (type === 'CatchClause') this.#bind(node['param']);
    if (type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression') {
      this.#bind(node['id']);
      for (const parameter of node['params'] as unknown[]) this.#bind(parameter);
    }
    if (type === 'ClassDeclaration' || type === 'ClassExpression') this.#bind(node['id']);
    if (type === 'CallExpression') this.#lookAtCall(node);
    if (type === 'MemberExpression') this.#lookAtMember(node);
    const hasPlainName =
      (type === 'MemberExpression' ||
        type === 'Property' ||
        type === 'MethodDefinition' ||
        type === 'PropertyDefinition') &&
      node['computed'] !== true;
    for (const [field, value] of Object.entries(node)) {
      if (hasPlainName && (field === 'property' || field === 'key')) {
        if (!(type === 'Property' && node['shorthand'] === true)) continue;
      }
      if (field === 'label') continue;
      for (const part of Array.isArray(value) ? value : [value])
        if (isObject(part) && typeof part['type'] === 'string') open.push(part);
    }
  }

  #refuse(reason: string): void {
    this.#reason ??= reason;
  }

  #bind(pattern: unknown): void {
    if (!isObject(pattern)) return;
    const { type } = pattern;
    if (type === 'Identifier') this.#bound.add(String(pattern['name']));
    else if (type === 'AssignmentPattern') this.#bind(pattern['left']);
    else if (type === 'RestElement') this.#bind(pattern['argument']);
    else if (type === 'ArrayPattern') for (const element of pattern['elements'] as unknown[]) this.#bind(element);
    else if (type === 'ObjectPattern') {
      for (const property of pattern['properties'] as Syntax[]) this.#bind(property['value'] ?? property);
    }
  }

  #lookAtCall(node: Syntax): void {
    const callee = node['callee'] as Syntax;
    const given = node['arguments'] as Syntax[];
    const [argument] = given;
    if (isNamed(callee, '$') || (isNamed(callee, '$items') && argument !== undefined)) {
      const name = literalOf(argument);
      if (name === undefined) this.#refuse('it names a node in a way that is known only when it runs');
      else {
        this.#nodes.add(name);
        if (isNamed(callee, '$items')) this.#lookAtOutput(name, given.slice(1));
      }
      return;
    }
    if (callee['type'] !== 'MemberExpression') return;
    const object = callee['object'] as Syntax;
    const property = callee['property'] as Syntax;
    const called = callee['computed'] === true ? literalOf(property) : String(property['name']);
    if (isViewOf(object) && given.length > 0 && !(called === 'itemMatching' && given.length === 1)) {
      if (given.length > 1) this.#refuse(OTHER_OUTPUT);
      this.#lookAtOutput(nameOfView(object), given);
    }
    if (!this.#isExpression) return;
    const method = callee['computed'] === true ? undefined : called;
    const isOfDates = (method === 'plus' || method === 'minus') && given.length === 1;
    const isOwn =
      isOfDates ||
      (ON_MATH.has(method ?? '') && isNamed(object, 'Math')) ||
      ((method === 'first' || method === 'last') && isViewOf(object));
    if (method !== undefined && METHODS_OF_N8N.has(method) && !isOwn)
      this.#refuse(`"${method}()" is a method that n8n adds`);
  }

  /** Looks at the numbers of an output and a run. `name` is undefined for the incoming items. */
  #lookAtOutput(name: string | undefined, numbers: readonly Syntax[]): void {
    const [output, run] = numbers;
    const isFirst =
      (output === undefined || isZero(output)) && (run === undefined || isZero(run) || isNamed(run, '$runIndex'));
    if (numbers.length > 2 || !isFirst) this.#refuse(OTHER_OUTPUT);
    if (name !== undefined) this.#firstOutputs.add(name);
    // A node is executed only once outside of loops, and `$runIndex` is refused inside of them.
    if (numbers.length > 1) this.#used.add('$runIndex');
  }

  #lookAtMember(node: Syntax): void {
    const object = node['object'] as Syntax;
    const property = node['property'] as Syntax;
    const name = node['computed'] === true ? literalOf(property) : String(property['name']);
    if (isNamed(object, '$node')) {
      if (name === undefined) this.#refuse('it names a node in a way that is known only when it runs');
      else {
        this.#nodes.add(name);
        this.#paired.add(name);
      }
    }
    if (name === 'binary') this.#refuse('it uses the files of items');
    const called = object['type'] === 'CallExpression' ? object : undefined;
    if (
      called !== undefined &&
      isNamed(called['callee'] as Syntax, '$') &&
      (name === 'item' || name === 'json' || name === 'pairedItem')
    ) {
      this.#paired.add(literalOf((called['arguments'] as Syntax[])[0]) ?? '');
    }
    const isView =
      isViewOf(object) || (object['type'] === 'MemberExpression' && isNamed(object['object'] as Syntax, '$node'));
    if (isView && (name === 'params' || name === 'context')) this.#refuse(`it reads "${name}" of a node`);
  }
}

function isIdentifier(node: unknown): node is Syntax {
  return isObject(node) && node['type'] === 'Identifier';
}

function isViewOf(object: Syntax): boolean {
  return isNamed(object, '$input') || (object['type'] === 'CallExpression' && isNamed(object['callee'] as Syntax, '$'));
}

/** Returns the name of the node, if it is known and the view is not that of the incoming items. */
function nameOfView(view: Syntax): string | undefined {
  return view['type'] === 'CallExpression' ? literalOf((view['arguments'] as Syntax[])[0]) : undefined;
}

function isZero(node: Syntax): boolean {
  return node['type'] === 'Literal' && node['value'] === 0;
}

function isNamed(node: Syntax | undefined, name: string): boolean {
  return node?.['type'] === 'Identifier' && node['name'] === name;
}

function literalOf(node: Syntax | undefined): string | undefined {
  if (node?.['type'] === 'Literal' && typeof node['value'] === 'string') return node['value'];
  const quasis =
    node?.['type'] === 'TemplateLiteral' && (node['expressions'] as unknown[]).length === 0
      ? (node['quasis'] as Syntax[])
      : [];
  const cooked = (quasis[0]?.['value'] as { cooked?: unknown } | undefined)?.cooked;
  return typeof cooked === 'string' ? cooked : undefined;
}
