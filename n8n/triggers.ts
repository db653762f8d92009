// Translates triggers. A drawing has one start. Addresses and times of n8n's triggers correspond to hooks and
// schedules, which are not part of a drawing.
import { isObject, type JsonObject } from '../graph/json.js';
import { parseOrUndefined } from './expressions.js';
import { fieldsOfForm } from './form-fields.js';
import {
  numberOf,
  objectsOf,
  textOf,
  valueAt,
  groupBy,
  type N8nNode,
  type N8nLink,
  type ImportFix,
  type ImportWarning,
} from './n8n-file.js';
import { emptyPlace, wholePlace, type JsonPlace } from './json-places.js';

interface TranslatedTrigger {
  fields: JsonObject[];
  place: JsonPlace;
  /** Sentences about differences from n8n and the remaining manual steps. */
  warnings: string[];
  /** The action of a user that resolves the first warning. */
  fix?: ImportFix;
  /** Of the triggers with links, the one with the highest rank starts a run. */
  rank: number;
}

type TranslateTrigger = (node: N8nNode) => TranslatedTrigger;

const INPUT = wholePlace('input', 'input', 0);

const triggers: Readonly<Record<string, TranslateTrigger>> = {
  'n8n-nodes-base.manualTrigger': () => ({ fields: [], place: INPUT, warnings: [], rank: 1 }),
  'n8n-nodes-base.start': () => ({ fields: [], place: INPUT, warnings: [], rank: 1 }),
  'n8n-nodes-base.webhook': webhook,
  'n8n-nodes-base.formTrigger': form,
  '@n8n/n8n-nodes-langchain.chatTrigger': () => ({
    fields: [
      { id: 'chatInput', title: 'Message', type: 'text', input_requirements: true },
      { id: 'sessionId', title: 'Session', type: 'text' },
    ],
    place: INPUT,
    warnings: ['The chat window is not taken over: a message is the input of a run.'],
    rank: 4,
  }),
  '@n8n/n8n-nodes-langchain.manualChatTrigger': () => ({
    fields: [{ id: 'chatInput', title: 'Message', type: 'text', input_requirements: true }],
    place: INPUT,
    warnings: [],
    rank: 4,
  }),
  'n8n-nodes-base.executeWorkflowTrigger': calledWorkflow,
  'n8n-nodes-base.scheduleTrigger': (node) =>
    schedule(cronOfRule(objectsOf(valueAt(node.parameters, 'rule', 'interval')))),
  'n8n-nodes-base.cron': (node) => schedule(cronOfTimes(objectsOf(valueAt(node.parameters, 'triggerTimes', 'item')))),
  'n8n-nodes-base.interval': ({ parameters: { interval, unit } }) =>
    schedule(everyPart(numberOf(interval ?? 1), textOf(unit) ?? 'seconds', {})),
};

export const triggerTypes: readonly string[] = Object.keys(triggers);

/** True if the node starts workflows in n8n, even if it has no equivalent here. */
export function isTrigger({ type }: N8nNode): boolean {
  return Object.hasOwn(triggers, type) || /trigger$/i.test(type) || type === 'n8n-nodes-base.emailReadImap';
}

function translateTrigger(node: N8nNode): TranslatedTrigger | undefined {
  return Object.hasOwn(triggers, node.type) ? triggers[node.type]!(node) : undefined;
}

function webhook({ parameters }: N8nNode): TranslatedTrigger {
  const path = textOf(parameters['path']) ?? '';
  const warnings = [
    `Make a hook for the workflow: the address "${path}" of n8n and its authentication are not taken over.`,
  ];
  if ((parameters['responseMode'] ?? 'onReceived') !== 'onReceived') {
    warnings.push('A hook answers with the id of the run. What the workflow answers is the output of the run.');
  }
  const place: JsonPlace = {
    readings: [{ path: ['body'], variable: 'input' }],
    ran: 'input',
    order: 0,
    gap: 'of a call only its body is the input of the run',
  };
  return { fields: [], place, warnings, fix: { hook: true }, rank: 5 };
}

function form({ parameters, version }: N8nNode): TranslatedTrigger {
  const { fields, warnings } = fieldsOfForm(valueAt(parameters, 'formFields', 'values'), {
    areNamed: version >= 2.4,
    canBeSecret: true,
  });
  return {
    fields,
    place: INPUT,
    warnings: ['The public form is not taken over: its fields are those of the input of a run.', ...warnings],
    rank: 5,
  };
}

const INPUT_TYPES: ReadonlyMap<string, string> = new Map([
  ['number', 'number'],
  ['boolean', 'checkbox'],
]);

function calledWorkflow({ parameters }: N8nNode): TranslatedTrigger {
  const listed = objectsOf(valueAt(parameters, 'workflowInputs', 'values')).flatMap(({ name, type }) => {
    return typeof name === 'string' && name !== ''
      ? [{ name, type: INPUT_TYPES.get(textOf(type) ?? '') ?? 'text' }]
      : [];
  });
  const example = parseOrUndefined(textOf(parameters['jsonExample']) ?? '');
  const shown =
    parameters['inputSource'] === 'jsonExample' && isObject(example)
      ? Object.entries(example).map(([name, value]) => ({ name, type: INPUT_TYPES.get(typeof value) ?? 'text' }))
      : listed;
  const fields = uniqueFields(shown.map(({ name, type }) => ({ id: name, title: name, type })));
  return { fields, place: { ...INPUT, items: 'unknown' }, warnings: [], rank: 3 };
}

function uniqueFields(fields: readonly (JsonObject & { id: string })[]): JsonObject[] {
  return [...new Map(fields.filter(({ id }) => id !== '').map((field) => [field.id, field])).values()];
}

function schedule(cron: string | undefined): TranslatedTrigger {
  const times = cron === undefined ? '' : `, for example with the cron expression "${cron}"`;
  return {
    fields: [],
    place: { ...emptyPlace('a schedule gives no data of its own', 0), isOneUnread: true },
    warnings: [`Make a schedule for the workflow${times}: times are not taken over.`],
    fix: { schedule: cron ?? '' },
    rank: 2,
  };
}

/** n8n's default intervals by unit. The default of every other unit is 1. */
const DEFAULT_INTERVALS: ReadonlyMap<string, number> = new Map([
  ['seconds', 30],
  ['minutes', 5],
]);

function cronOfRule(intervals: readonly JsonObject[]): string | undefined {
  const [interval, ...others] = intervals;
  if (interval === undefined || others.length > 0) return undefined;
  const field = textOf(interval['field']) ?? 'days';
  if (field === 'cronExpression') return plainCron(interval['expression']);
  const count = interval[`${field}Interval`] ?? DEFAULT_INTERVALS.get(field) ?? 1;
  return everyPart(numberOf(count), field, interval);
}

function cronOfTimes(times: readonly JsonObject[]): string | undefined {
  const [time, ...others] = times;
  if (time === undefined || others.length > 0) return undefined;
  const mode = textOf(time['mode']) ?? 'everyDay';
  if (mode === 'custom') return plainCron(time['cronExpression']);
  const units: Record<string, string> = {
    everyMinute: 'minutes',
    everyHour: 'hours',
    everyDay: 'days',
    everyWeek: 'weeks',
    everyMonth: 'months',
  };
  const at = {
    triggerAtMinute: time['minute'] ?? 0,
    triggerAtHour: time['hour'] ?? 14,
    triggerAtDay: [Number(time['weekday'] ?? 1)],
    triggerAtDayOfMonth: time['dayOfMonth'] ?? 1,
  };
  return everyPart(1, Object.hasOwn(units, mode) ? units[mode]! : '', at);
}

/** n8n allows a sixth field in front, for the seconds. */
function plainCron(expression: unknown): string | undefined {
  const fields = (textOf(expression) ?? '').trim().split(/\s+/);
  const five = fields.length === 6 && fields[0] === '0' ? fields.slice(1) : fields;
  const isPlain = five.length === 5 && five.every((field) => /^[\dA-Za-z*/,-]{1,40}$/.test(field));
  return isPlain ? five.join(' ') : undefined;
}

/** Returns undefined if no cron expression has these times, or if one of them is known only when n8n evaluates it. */
function everyPart(count: number | undefined, unit: string, at: JsonObject): string | undefined {
  if (count === undefined || !Number.isInteger(count) || count < 1) return undefined;
  if (unit === 'minutes' && 60 % count === 0) return count === 1 ? '* * * * *' : `*/${count} * * * *`;
  const minute = inRange(at['triggerAtMinute'] ?? 0, 59);
  const hour = inRange(at['triggerAtHour'] ?? 0, 23);
  const day = inRange(at['triggerAtDayOfMonth'] ?? 1, 31);
  if (minute === undefined || hour === undefined || day === undefined) return undefined;
  if (unit === 'hours' && 24 % count === 0) return `${minute} ${count === 1 ? '*' : `*/${count}`} * * *`;
  if (count > 1) return undefined;
  if (unit === 'days') return `${minute} ${hour} * * *`;
  if (unit === 'months') return `${minute} ${hour} ${Math.max(1, day)} * *`;
  if (unit !== 'weeks') return undefined;
  const weekdays = Array.isArray(at['triggerAtDay']) ? at['triggerAtDay'] : [0];
  const days = weekdays.filter(
    (each: unknown) => typeof each === 'number' && Number.isInteger(each) && each >= 0 && each <= 6,
  );
  return days.length === 0 ? undefined : `${minute} ${hour} * * ${days.join(',')}`;
}

function inRange(value: unknown, most: number): number | undefined {
  const number = numberOf(value);
  return number !== undefined && Number.isInteger(number) && number >= 0 && number <= most ? number : undefined;
}

export interface Start {
  /** The trigger that starts a run, drawn or not. Undefined if the file has no enabled trigger. */
  first: N8nNode | undefined;
  /** `first` if it has an equivalent, and is drawn as the start. */
  drawn: N8nNode | undefined;
  /** The fields of the start, and the data that it provides. */
  translated: TranslatedTrigger;
  /**
   * Further triggers that are drawn, because each is directly followed by a node that does not directly follow `first`.
   * No run starts at them.
   */
  others: { node: N8nNode; translated: TranslatedTrigger }[];
  /** The data that each enabled trigger provides, even if the trigger became no node. */
  places: ReadonlyMap<N8nNode, JsonPlace>;
  leftOut: { node: N8nNode; reason: string }[];
  warnings: ImportWarning[];
}

interface Candidate {
  node: N8nNode;
  translated: TranslatedTrigger;
  followers: ReadonlySet<N8nNode>;
}

/** Stands for a trigger without an equivalent, and for the start of a file without enabled triggers. */
const NO_TRIGGER: TranslatedTrigger = {
  fields: [],
  place: wholePlace('input', 'input', 0),
  warnings: [],
  rank: 2,
};

/** Triggers that start a workflow beside its own work, for example after an error. */
const BESIDE: ReadonlySet<string> = new Set([
  'n8n-nodes-base.errorTrigger',
  'n8n-nodes-base.evaluationTrigger',
  'n8n-nodes-base.n8nTrigger',
  'n8n-nodes-base.workflowTrigger',
]);

export function findStart(nodes: readonly N8nNode[], links: readonly N8nLink[]): Start {
  const outgoing = groupBy(links, ({ from }) => from);
  const candidates: Candidate[] = [];
  const leftOut: Start['leftOut'] = [];
  for (const node of nodes.filter(isTrigger)) {
    if (node.isDisabled) {
      leftOut.push({ node, reason: 'it is switched off in the file' });
      continue;
    }
    const followers = new Set((outgoing.get(node) ?? []).map(({ to }) => to));
    candidates.push({ node, translated: translateTrigger(node) ?? NO_TRIGGER, followers });
  }
  const ranked = candidates.toSorted((a, b) => rankOf(b) - rankOf(a));
  const [first, ...rest] = ranked;
  for (const { node } of candidates.filter(({ translated }) => translated === NO_TRIGGER)) {
    const effect =
      node === first?.node
        ? 'Start runs over the API or by a hook, with its data as the input'
        : 'What only it leads to was kept, but does not run';
    leftOut.push({ node, reason: `it has no equivalent. ${effect}` });
  }
  const others = rest.filter(
    ({ translated, followers }) =>
      translated !== NO_TRIGGER && [...followers].some((node) => !first!.followers.has(node)),
  );
  const warnings = ranked.flatMap((candidate): ImportWarning[] => {
    const { node, translated } = candidate;
    const oneStart = `A workflow has one start here, "${first!.node.label}". What only this trigger leads to was kept, but does not run.`;
    const messages = others.includes(candidate) ? [...translated.warnings, oneStart] : translated.warnings;
    const { fix } = translated;
    return messages.map((message, at) => ({
      node: node.label,
      message,
      ...(at === 0 && fix !== undefined && { fix }),
    }));
  });
  return {
    first: first?.node,
    drawn: first?.translated === NO_TRIGGER ? undefined : first?.node,
    translated: first?.translated ?? NO_TRIGGER,
    others,
    places: new Map(candidates.map(({ node, translated }) => [node, translated.place])),
    leftOut,
    warnings,
  };
}

/** A trigger without links is the last choice, after those of errors and the like. */
function rankOf({ node, translated, followers }: Candidate): number {
  if (followers.size === 0) return -1;
  return BESIDE.has(node.type) ? 0 : translated.rank;
}
