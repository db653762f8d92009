// Translates n8n's decisions: If, Filter and Switch. A decision about one item becomes a condition or a switch if plain
// conditions can express it. Any other decision is made item by item in a code node.
import type { Condition } from '../graph/condition-schema.js';
import type { JsonObject } from '../graph/json.js';
import { isQuestion, OLD_OPERATIONS, oldPlainCondition, oldPlainRule, plainCondition } from './conditions.js';
import { addOutputs, isAlwaysFilled } from './data-node.js';
import type { Source } from './draft.js';
import { numberOf, objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { CONDITIONS, OLD_CONDITIONS } from './runtime/conditions.js';
import { DIVIDING } from './runtime/core.js';

const MAX_RULES = 50;
const MAX_TESTS = 1000;

export function translateIf(at: NodeTranslation): TranslatedNode {
  const needsAll = at.parameters['combineOperation'] !== 'any';
  return decide(at, [ruleOf(at, at.parameters['conditions'], needsAll, 0)], {
    otherwise: 1,
    outputs: 2,
    takesAll: false,
  });
}

export function translateFilter(at: NodeTranslation): TranslatedNode {
  const needsAll = at.parameters['combineConditions'] !== 'OR';
  return decide(at, [ruleOf(at, at.parameters['conditions'], needsAll, 0)], {
    otherwise: undefined,
    outputs: 1,
    takesAll: false,
  });
}

export function translateSwitch(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  if ((parameters['mode'] ?? 'rules') === 'expression') return byExpression(at);
  const rules = at.node.version >= 3 ? readRules(at) : readOldRules(at);
  if (rules.length === 0) throw new NotTranslatable('it has no rules');
  if (rules.length > MAX_RULES) throw new NotTranslatable(`it has more than ${MAX_RULES} rules`);
  const fallback = valueAt(parameters, 'options', 'fallbackOutput') ?? parameters['fallbackOutput'];
  const otherwise = readFallback(fallback, rules);
  const outputs = Math.max(otherwise ?? 0, ...rules.map(({ output }) => output)) + 1;
  const takesAll = valueAt(parameters, 'options', 'allMatchingOutputs') === true;
  return decide(at, rules, { otherwise, outputs, takesAll });
}

interface Rule {
  output: number;
  /** The plain condition with the same result as in n8n, if there is one. */
  plain: Condition | undefined;
  /** The rule as the runtime reads it. */
  asked: JsonObject;
  label?: string | undefined;
}

interface Ways {
  otherwise: number | undefined;
  outputs: number;
  /** True if all rules that hold are taken, not only the first one. */
  takesAll: boolean;
}

/** Reads the conditions of an If or a Filter. */
function ruleOf(at: NodeTranslation, conditions: unknown, needsAll: boolean, output: number): Rule {
  if (isQuestion(conditions)) return questionRule(at, objectOf(conditions), output);
  const tests = Object.entries(objectOf(conditions)).flatMap(([type, list]) =>
    objectsOf(list).map((test) => oldTest(type, test, test['value1'])),
  );
  checkTests(tests);
  return { output, plain: oldPlainCondition(at, conditions, needsAll), asked: { old: { tests, needsAll } } };
}

function questionRule(at: NodeTranslation, question: JsonObject, output: number): Rule {
  const { conditions, combinator, options } = question;
  const ignoresCase = valueAt(at.parameters, 'options', 'ignoreCase');
  const isLoose = valueAt(at.parameters, 'options', 'looseTypeValidation') ?? at.parameters['looseTypeValidation'];
  checkTests(objectsOf(conditions));
  const asked = {
    conditions: objectsOf(conditions).map(({ leftValue, rightValue, operator }) => ({
      leftValue,
      rightValue,
      operator,
    })),
    combinator: combinator ?? 'and',
    options: {
      ...objectOf(options),
      ...(ignoresCase !== undefined && { caseSensitive: ignoresCase !== true }),
      ...(isLoose === true && { typeValidation: 'loose' }),
    },
  };
  return { output, plain: plainCondition(at, question, ignoresCase === true), asked };
}

function oldTest(type: string, test: JsonObject, left: unknown): JsonObject {
  const right = test['value2'] ?? (type === 'number' ? 0 : type === 'boolean' ? false : '');
  return {
    type,
    operation: textOf(test['operation']) ?? OLD_OPERATIONS.get(type) ?? '',
    left: left ?? (type === 'number' ? 0 : type === 'boolean' ? false : ''),
    right,
  };
}

const KNOWN_TESTS = new RegExp(
  '^(?:not)?(?:exists|empty|equals?|contains|startsWith|endsWith|regex|true|false)$|^(?:gte?|lte?|after|before|afterOrEquals|beforeOrEquals)$' +
    '|^length(?:Equals|NotEquals|Gte?|Lte?)$|^(?:larger|smaller)(?:Equal)?$|^is(?:Not)?Empty$',
  'i',
);

function checkTests(tests: readonly JsonObject[]): void {
  if (tests.length > MAX_TESTS) throw new NotTranslatable(`it asks more than ${MAX_TESTS} things`);
  for (const test of tests) {
    const operation = textOf(test['operation']) ?? textOf(valueAt(test['operator'], 'operation')) ?? '';
    if (!KNOWN_TESTS.test(operation)) throw new NotTranslatable(`the operation "${operation}" is not known`);
  }
}

function readRules(at: NodeTranslation): Rule[] {
  return objectsOf(objectOf(at.parameters['rules'])['values']).map((rule, index) => ({
    ...questionRule(at, objectOf(rule['conditions']), index),
    label: textOf(rule['outputKey']),
  }));
}

function readOldRules(at: NodeTranslation): Rule[] {
  const type = textOf(at.parameters['dataType']) ?? 'number';
  const rules = objectsOf(objectOf(at.parameters['rules'])['rules']);
  return rules.map((rule, index) => {
    const test = oldTest(type, rule, at.parameters['value1']);
    checkTests([test]);
    return {
      output: at.node.version >= 2 ? index : toOutput(rule['output']),
      plain: oldPlainRule(at, type, rule),
      asked: { old: { tests: [test], needsAll: true } },
      label: textOf(rule['outputKey']),
    };
  });
}

function toOutput(value: unknown): number {
  const number = numberOf(value) ?? 0;
  return Number.isInteger(number) && number >= 0 && number < MAX_RULES ? number : 0;
}

/** `extra` stands for a separate output after the others. */
function readFallback(value: unknown, rules: readonly Rule[]): number | undefined {
  if (value === 'extra') return rules.length;
  const number = typeof value === 'string' && /^\d{1,2}$/.test(value) ? Number(value) : numberOf(value);
  return number === undefined || number < 0 || !Number.isInteger(number) || number > MAX_RULES ? undefined : number;
}

function decide(at: NodeTranslation, rules: readonly Rule[], ways: Ways): TranslatedNode {
  const conditions = rules.flatMap(({ plain }) => plain ?? []);
  // Only a code node can put out an empty item beside the item of another output.
  const isPlain = at.json.items === undefined && conditions.length === rules.length && !isAlwaysFilled(at);
  if (isPlain && rules.length === 1 && at.node.type !== SWITCH) return toCondition(at, conditions[0]!, ways);
  if (isPlain) return toSwitch(at, rules, ways);
  const { outputs, otherwise, takesAll } = ways;
  const isOld = rules.some(({ asked }) => Object.hasOwn(asked, 'old'));
  const code = {
    parts: [DIVIDING, isOld ? OLD_CONDITIONS : CONDITIONS, isOld ? OLD_RULES : NEW_RULES],
    parameters: rules.map(({ asked }) => asked),
    returns: `divide(items, ${outputs}, (index) => waysOf(parametersOf(index), ${JSON.stringify({ outputs: rules.map(({ output }) => output), otherwise: otherwise ?? -1, takesAll })}))`,
  };
  return addOutputs(at, outputs, code, { takesAll });
}

const SWITCH = 'n8n-nodes-base.switch';

const CHOOSING = String.raw`
const waysOf = (rules, { outputs, otherwise, takesAll }) => {
  const taken = [];
  for (const [index, rule] of rules.entries()) {
    if (!holds(rule)) continue;
    taken.push(outputs[index]);
    if (!takesAll) break;
  }
  return taken.length === 0 ? [otherwise] : taken;
};
`;
const NEW_RULES = `const holds = passes;\n${CHOOSING}`;
const OLD_RULES = String.raw`
const holds = ({ old: { tests, needsAll } }) => {
  const test = ({ type, operation, left, right }) => passesOld(type, operation, left, right);
  return needsAll ? tests.every(test) : tests.some(test);
};
${CHOOSING}`;

/** Translates a Switch in which an expression returns the number of the output. */
function byExpression(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  const most = numberOf(parameters['outputsAmount'] ?? parameters['numberOutputs']) ?? 4;
  const outputs = Math.max(1, Math.min(Math.trunc(most), MAX_RULES));
  return addOutputs(at, outputs, {
    parts: [DIVIDING, CHOSEN],
    parameters: { output: parameters['output'] ?? (node.version < 3 ? 0 : '') },
    returns: `divide(items, ${outputs}, (index) => [chosen(parametersOf(index).output, ${outputs})])`,
  });
}

const CHOSEN = String.raw`
const chosen = (output, count) => {
  const number = Number(output);
  if (!(number >= 0 && number < count)) throw new Error('The output ' + output + ' is not allowed. It has to be between 0 and ' + (count - 1) + '!');
  return number;
};
`;

function toCondition(at: NodeTranslation, condition: Condition, { outputs, otherwise }: Ways): TranslatedNode {
  const id = at.add('condition', { condition });
  const ways: Way[] = [
    [0, { id, handle: 'condition-true' }],
    [otherwise, { id, handle: 'condition-false' }],
  ];
  return toTranslatedNode(at, id, outputs, ways);
}

function toSwitch(at: NodeTranslation, rules: readonly Rule[], { otherwise, outputs, takesAll }: Ways): TranslatedNode {
  const cases = rules.map(({ plain, label }, index) => ({
    id: `case-${index + 1}`,
    ...(label !== undefined && label !== '' && { label }),
    condition: plain,
  }));
  const id = at.add('switch', { cases, mode: takesAll ? 'all' : 'first' });
  const ways = rules.map(({ output }, index): Way => [output, { id, handle: `case-${index + 1}` }]);
  const translated = toTranslatedNode(at, id, outputs, [...ways, [otherwise, { id, handle: 'default' }]]);
  if (!takesAll) return translated;
  return { ...translated, outputs: translated.outputs.map((output) => ({ ...output, isShared: true })) };
}

type Way = [output: number | undefined, source: Source];

function toTranslatedNode(at: NodeTranslation, entry: string, count: number, ways: readonly Way[]): TranslatedNode {
  const place = at.json;
  const outputs = Array.from({ length: count }, (_, output) => ({
    sources: ways.flatMap(([to, source]) => (to === output ? [source] : [])),
    place,
  }));
  return { entry, outputs };
}
