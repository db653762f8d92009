// Translates nodes that control the run: Wait of all kinds, Stop and Error, and Execute Sub-workflow.
import { isObject, type JsonObject } from '../graph/json.js';
import { withOffset } from './dates.js';
import { piecesOf } from './expressions.js';
import { fieldsOfForm } from './form-fields.js';
import { namedIn } from './models.js';
import { numberOf, textOf, valueAt, type N8nNode } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { templateAt, wholePlace, type JsonPlace } from './json-places.js';

const SECONDS: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 };
/** Waits given as numbers are cut to this, below the limit of 30 days of the nodes (`MAX_WAIT_SECONDS`). */
const LONGEST_SECONDS = 29 * 86_400;

/** True if the node is enabled and waits for a call to the address `$execution.resumeUrl`. */
export function waitsForCall({ type, parameters, isDisabled }: N8nNode): boolean {
  return type === 'n8n-nodes-base.wait' && parameters['resume'] === 'webhook' && !isDisabled;
}

export function translateWait(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const resume = textOf(parameters['resume']) ?? 'timeInterval';
  if (resume === 'specificTime') {
    const id = at.add('wait', { mode: 'until', until: momentOf(at, parameters['dateTime']) });
    return oneWay(id, at.passedOn(id));
  }
  if (resume === 'webhook') return callback(at);
  if (resume === 'form') return form(at);
  if (resume !== 'timeInterval') throw new NotTranslatable(`it waits for "${resume}"`);
  const isLater = at.node.version >= 1.1;
  const unit = textOf(parameters['unit']) ?? (isLater ? 'seconds' : 'hours');
  const id = at.add('wait', {
    mode: 'duration',
    seconds: secondsOf(at, parameters['amount'] ?? (isLater ? 5 : 1), unit),
  });
  return oneWay(id, at.passedOn(id));
}

/** The end of a text that has an offset from UTC. */
const ENDS_WITH_OFFSET = /(?:Z|[+-]\d{2}:?\d{2})$/i;

/**
 * Returns the date and time, with an offset if possible: without one, it is in the zone of the workflow in n8n, and in
 * UTC here.
 */
function momentOf(at: NodeTranslation, parameter: unknown): string {
  const { zone } = at.names;
  const given = textOf(parameter) ?? '';
  const [only, ...others] = given.startsWith('=') ? piecesOf(given.slice(1).trim()) : [];
  if (only?.source !== undefined && others.length === 0) {
    // Values that are no texts, such as dates of the library, have an offset.
    const read =
      "typeof value === 'string' && DateTime.fromISO(value).isValid ? DateTime.fromISO(value).toISO() : value";
    const computed = at.computed(`={{ ((value) => (${read}))(${only.source}) }}`);
    if (computed !== undefined) return computed;
  }
  const text = at.text(parameter, 'dateTime').trim();
  const moment = text.includes('{{') ? undefined : withOffset(text, zone);
  if (moment === undefined && !ENDS_WITH_OFFSET.test(text))
    at.warn(`dateTime: without an offset it is in the time zone "${zone}" in n8n, and in UTC here.`);
  return moment ?? text;
}

function secondsOf(at: NodeTranslation, amount: unknown, unit: string): number | string {
  const factor = Object.hasOwn(SECONDS, unit) ? SECONDS[unit]! : undefined;
  if (factor === undefined) throw new NotTranslatable(`it waits for the unit "${unit}"`);
  const number =
    numberOf(amount) ??
    (typeof amount === 'string' && /^\d{1,9}(\.\d{1,3})?$/.test(amount) ? Number(amount) : undefined);
  if (number !== undefined && number * factor > LONGEST_SECONDS)
    at.warn(`n8n waits ${number} ${unit}. Here the wait ends after ${LONGEST_SECONDS / SECONDS['days']!} days.`);
  if (number !== undefined) return Math.min(number * factor, LONGEST_SECONDS);
  if (factor !== 1) throw new NotTranslatable(`its number of ${unit} is an expression`);
  return at.text(amount, 'amount');
}

function callback(at: NodeTranslation): TranslatedNode {
  const id = at.add('wait', { mode: 'callback', timeout: timeoutOf(at) });
  const body = `${id}.result.json`;
  const place: JsonPlace = {
    readings: [{ path: ['body'], variable: body }],
    ran: `${id}.result.content`,
    order: at.around.order,
    gap: 'of a callback there is only its body',
  };
  return afterTimeout(at, id, place);
}

function form(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const { fields, warnings } = fieldsOfForm(valueAt(parameters, 'formFields', 'values'), {
    areNamed: at.node.version >= 1.2,
    canBeSecret: false,
  });
  for (const warning of warnings) at.warn(warning);
  const texts = ['formTitle', 'formDescription']
    .map((field) => at.text(parameters[field], field))
    .filter((text) => text !== '');
  const message = texts.length === 0 ? at.node.label : texts.join('\n\n');
  const id = at.add('human', { message, ...(fields.length > 0 && { fields }), timeout: timeoutOf(at) });
  at.warn('The form is a task in the inbox of who may run the workflow. It has no public address.');
  const place: JsonPlace = {
    readings: [{ path: [], variable: `${id}.result.values` }],
    ran: `${id}.result.content`,
    order: at.around.order,
  };
  return afterTimeout(at, id, place);
}

/** n8n continues after the time limit as it does after an answer. */
function afterTimeout(at: NodeTranslation, id: string, place: JsonPlace): TranslatedNode {
  const ordinary = { id, handle: null };
  const isLimited = at.parameters['limitWaitTime'] === true;
  return {
    entry: id,
    outputs: [{ sources: isLimited ? [ordinary, { id, handle: 'timeout' }] : [ordinary], place }],
  };
}

function timeoutOf(at: NodeTranslation): number {
  const { parameters } = at;
  if (parameters['limitWaitTime'] !== true) {
    at.warn('n8n waits without an end. Here the wait ends after 29 days, and the run fails.');
    return LONGEST_SECONDS;
  }
  if ((parameters['limitType'] ?? 'afterTimeInterval') !== 'afterTimeInterval') {
    throw new NotTranslatable('its time limit is a date');
  }
  const seconds = secondsOf(at, parameters['resumeAmount'] ?? 1, textOf(parameters['resumeUnit']) ?? 'hours');
  if (typeof seconds !== 'number') throw new NotTranslatable('its time limit is an expression');
  return seconds;
}

const STOP_CODE =
  'throw new Error(typeof inputs.message === "string" ? inputs.message : JSON.stringify(inputs.message));';

export function translateStop(at: NodeTranslation): TranslatedNode {
  const isObjectGiven = at.parameters['errorType'] === 'errorObject';
  const object = isObjectGiven ? at.jsonText(at.parameters['errorObject'], 'errorObject') : undefined;
  if (isObjectGiven && !isObject(object)) throw new NotTranslatable('its error is no JSON that can be translated');
  const message = object ?? at.value(at.parameters['errorMessage'] ?? '', 'errorMessage');
  const id = at.add('code', { code: STOP_CODE, inputs: { message } });
  return { entry: id, outputs: [] };
}

export function translateCall(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const source = textOf(parameters['source']) ?? 'database';
  if (source !== 'database') throw new NotTranslatable(`its workflow comes from "${source}"`);
  if (at.isForEach && (parameters['mode'] ?? 'once') !== 'each')
    at.warn('n8n runs the workflow once with all items. Here it runs once for each item.');
  const mapped = valueAt(parameters, 'workflowInputs', 'value');
  const input =
    isObject(mapped) && Object.keys(mapped).length > 0 ? (at.value(mapped, 'workflowInputs') as JsonObject) : whole(at);
  at.warn(
    `Choose the workflow that it runs${namedIn(parameters['workflowId'])}: ids of n8n mean nothing here.`,
    at.node,
    {
      field: 'workflow_id',
    },
  );
  const doesWait = valueAt(parameters, 'options', 'waitForSubWorkflow') !== false;
  const id = at.add('workflow', { input, wait: doesWait });
  if (!doesWait) return oneWay(id, at.passedOn(id, 'run_id'));
  const place = wholePlace(`${id}.result.output`, `${id}.result.run_id`, at.around.order);
  return oneWay(id, { ...place, items: 'unknown' });
}

/**
 * n8n passes on all data if no inputs are named. The fields of an object can be named here, those of a variable cannot.
 */
function whole(at: NodeTranslation): JsonObject {
  const json = templateAt(at.json, []);
  if (isObject(json)) return json;
  at.warn('Name what it hands over under "input": n8n hands over whatever comes in, whose fields are not known.');
  return {};
}
