// Translates n8n's decisions: If, Filter and Switch.
import type { Source } from './draft.js';
import {
  isQuestion,
  partsOf,
  readOldAtom,
  readOldQuestion,
  readQuestion,
  type Part,
  type Question,
} from './conditions.js';
import { numberOf, objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, type NodeTranslation, type TranslatedNode } from './node-translation.js';

interface Rule extends Question {
  output: number;
  label?: string;
}

/** A rule as conditions of nodes. */
interface AskedRule {
  parts: Part[];
  /** True if all parts must hold, false if one is enough. */
  needsAll: boolean;
  output: number;
  label: string;
}

const MAX_CASES = 50;
const MAX_CONDITIONS = 200;

export function translateIf(at: NodeTranslation): TranslatedNode {
  const question = isQuestion(at.parameters['conditions'])
    ? readQuestion(at, at.parameters['conditions'], isCaseIgnored(at), 'conditions')
    : readOldQuestion(at, at.parameters);
  return decide(at, [{ ...question, output: 0 }], { otherwise: 1, outputs: 2 });
}

export function translateFilter(at: NodeTranslation): TranslatedNode {
  const question = isQuestion(at.parameters['conditions'])
    ? readQuestion(at, at.parameters['conditions'], isCaseIgnored(at), 'conditions')
    : readOldQuestion(at, {
        ...at.parameters,
        combineOperation: at.parameters['combineConditions'] === 'OR' ? 'any' : 'all',
      });
  return decide(at, [{ ...question, output: 0 }], { otherwise: undefined, outputs: 1 });
}

export function translateSwitch(at: NodeTranslation): TranslatedNode {
  if ((at.parameters['mode'] ?? 'rules') !== 'rules')
    throw new NotTranslatable('its output is chosen by an expression');
  const rules = at.node.version >= 3 ? readRules(at) : readOldRules(at);
  if (rules.length === 0) throw new NotTranslatable('it has no rules');
  const fallback = valueAt(at.parameters, 'options', 'fallbackOutput') ?? at.parameters['fallbackOutput'];
  const otherwise = readFallback(fallback, rules);
  const outputs = Math.max(otherwise ?? 0, ...rules.map(({ output }) => output)) + 1;
  if (valueAt(at.parameters, 'options', 'allMatchingOutputs') === true) return takeAll(at, rules, otherwise, outputs);
  return decide(at, rules, { otherwise, outputs });
}

function isCaseIgnored({ parameters }: NodeTranslation): boolean {
  return valueAt(parameters, 'options', 'ignoreCase') === true;
}

function readRules(at: NodeTranslation): Rule[] {
  return objectsOf(objectOf(at.parameters['rules'])['values']).map((rule, index) => ({
    ...readQuestion(at, rule['conditions'], isCaseIgnored(at), `rules[${index}]`),
    output: index,
    label: textOf(rule['outputKey']) ?? '',
  }));
}

function readOldRules(at: NodeTranslation): Rule[] {
  const type = textOf(at.parameters['dataType']) ?? 'number';
  return objectsOf(objectOf(at.parameters['rules'])['rules']).map((condition, index) => ({
    atoms: [readOldAtom(at, { type, left: at.parameters['value1'], condition, field: `rules[${index}]` })],
    needsAll: true,
    output: at.node.version >= 2 ? index : toOutput(condition['output']),
    label: textOf(condition['outputKey']) ?? '',
  }));
}

function toOutput(value: unknown): number {
  const number = numberOf(value) ?? 0;
  return Number.isInteger(number) && number >= 0 && number < MAX_CASES ? number : 0;
}

/** `extra` stands for a separate output after the others. */
function readFallback(value: unknown, rules: readonly Rule[]): number | undefined {
  if (value === 'extra') return rules.length;
  const number = typeof value === 'string' && /^\d{1,2}$/.test(value) ? Number(value) : numberOf(value);
  return number === undefined || number < 0 || !Number.isInteger(number) || number > MAX_CASES ? undefined : number;
}

interface Ways {
  otherwise: number | undefined;
  outputs: number;
}

/** The first rule that holds decides. */
function decide(at: NodeTranslation, rules: readonly Rule[], ways: Ways): TranslatedNode {
  at.warnOfItems();
  const asked = rules.map(toAsked);
  const [{ parts, output }] = asked as [AskedRule, ...AskedRule[]];
  if (asked.length === 1 && parts.length === 1) return toCondition(at, parts[0]!, { ...ways, output });
  const cases = asked.flatMap(toCases);
  const isPlain = asked.every((rule) => rule.parts.length === 1 || !rule.needsAll);
  if (isPlain && cases.length <= MAX_CASES && cases.every(({ part }) => !part.isNegated)) {
    return toSwitch(at, cases, 'first', ways);
  }
  return toChain(at, asked, ways);
}

function takeAll(
  at: NodeTranslation,
  rules: readonly Rule[],
  otherwise: number | undefined,
  outputs: number,
): TranslatedNode {
  at.warnOfItems();
  const asked = rules.map(toAsked);
  const cases = asked.flatMap(toCases);
  const isPlain = asked.every(({ parts }) => parts.length === 1) && cases.every(({ part }) => !part.isNegated);
  if (!isPlain || cases.length > MAX_CASES) {
    throw new NotTranslatable('it takes all outputs that match, and no single condition asks what one of them asks');
  }
  return toSwitch(at, cases, 'all', { otherwise, outputs });
}

function toAsked({ output, label = '', ...question }: Rule): AskedRule {
  return { parts: partsOf(question), needsAll: question.needsAll, output, label };
}

function toCondition(at: NodeTranslation, part: Part, { output, ...ways }: Ways & { output: number }): TranslatedNode {
  const id = at.add('condition', { condition: part.condition });
  const handles = handlesOf(id, part);
  return toTranslatedNode(at, id, ways, [
    [output, handles.whenTrue],
    [ways.otherwise, handles.whenFalse],
  ]);
}

function handlesOf(id: string, { isNegated }: Part): { whenTrue: Source; whenFalse: Source } {
  const [yes, no] = isNegated ? ['condition-false', 'condition-true'] : ['condition-true', 'condition-false'];
  return { whenTrue: { id, handle: yes }, whenFalse: { id, handle: no } };
}

interface Case {
  part: Part;
  output: number;
  label: string;
}

function toCases({ parts, output, label }: AskedRule): Case[] {
  return parts.map((part) => ({ part, output, label }));
}

function toSwitch(at: NodeTranslation, cases: readonly Case[], mode: 'first' | 'all', ways: Ways): TranslatedNode {
  const items = cases.map(({ part, label }, index) => ({
    id: `case-${index + 1}`,
    ...(label !== '' && { label }),
    condition: part.condition,
  }));
  const id = at.add('switch', { cases: items, mode });
  const translated = toTranslatedNode(at, id, ways, [
    ...cases.map(({ output }, index): Way => [output, { id, handle: `case-${index + 1}` }]),
    [ways.otherwise, { id, handle: 'default' }],
  ]);
  if (mode === 'first') return translated;
  return { ...translated, outputs: translated.outputs.map((output) => ({ ...output, isShared: true })) };
}

/** Translates the rules to consecutive condition nodes, if one node cannot ask all questions. */
function toChain(at: NodeTranslation, rules: readonly AskedRule[], ways: Ways): TranslatedNode {
  const count = rules.reduce((sum, { parts }) => sum + parts.length, 0);
  if (count > MAX_CONDITIONS) throw new NotTranslatable(`it asks more than ${MAX_CONDITIONS} things`);
  const taken: Way[] = [];
  let entry: string | undefined;
  let number = 0;
  let waiting: Source[] = [];
  for (const { parts, needsAll, output } of rules) {
    const failed: Source[] = [];
    for (const [index, part] of parts.entries()) {
      number += 1;
      const id = at.add('condition', { condition: part.condition }, number === 1 ? undefined : `${number} of ${count}`);
      entry ??= id;
      for (const source of waiting) at.link(source, id);
      const { whenTrue, whenFalse } = handlesOf(id, part);
      const isLast = index === parts.length - 1;
      if (!needsAll || isLast) taken.push([output, whenTrue]);
      if (needsAll) failed.push(whenFalse);
      waiting = needsAll ? [whenTrue] : [whenFalse];
    }
    if (needsAll) waiting = failed;
  }
  return toTranslatedNode(at, entry!, ways, [...taken, ...waiting.map((source): Way => [ways.otherwise, source])]);
}

type Way = [output: number | undefined, source: Source];

function toTranslatedNode(
  at: NodeTranslation,
  entry: string,
  { outputs }: Ways,
  taken: readonly Way[],
): TranslatedNode {
  const place = at.json;
  return {
    entry,
    outputs: Array.from({ length: outputs }, (_, output) => ({
      sources: taken.flatMap(([to, source]) => (to === output ? [source] : [])),
      place,
    })),
  };
}
