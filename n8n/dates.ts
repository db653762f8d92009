// Translates Date & Time, and reads the time zone of a file.
import type { JsonObject } from '../graph/json.js';
import { addForEach } from './data-node.js';
import { objectOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { DATE_NODE, DATES, OLD_DATE_NODE } from './runtime/dates.js';

/** n8n's own default, for files that name no time zone. */
const DEFAULT_ZONE = 'America/New_York';

export function zoneOf(settings: JsonObject): string {
  const zone = textOf(settings['timezone']) ?? '';
  return zone === '' || zone === 'DEFAULT' || zone.length > 60 ? DEFAULT_ZONE : zone;
}

const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?$/;

/**
 * Adds to a date and time without an offset the offset that the zone has then. Returns any other text as it is.
 * Undefined if the zone is not known.
 */
export function withOffset(text: string, zone: string): string | undefined {
  const local = text.length === 'YYYY-MM-DD'.length ? `${text}T00:00` : text.replace(' ', 'T');
  if (!LOCAL_TIME.test(text) || Number.isNaN(Date.parse(`${local}Z`))) return text;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    const offsetAt = (time: string): string => /GMT([+-]\d\d:\d\d)?/.exec(format.format(Date.parse(time)))?.[1] ?? 'Z';
    return `${local}${offsetAt(`${local}${offsetAt(`${local}Z`)}`)}`;
  } catch {
    return undefined;
  }
}

const OLD_DEFAULTS = {
  action: 'format',
  value: '',
  toFormat: 'MM/DD/YYYY',
  dataPropertyName: 'data',
  operation: 'add',
  duration: 0,
  timeUnit: 'days',
};
/** The default name of the field that an operation sets, by operation. */
const FIELDS: Readonly<Record<string, string>> = {
  getCurrentDate: 'currentDate',
  addToDate: 'newDate',
  subtractFromDate: 'newDate',
  formatDate: 'formattedDate',
  roundDate: 'roundedDate',
  getTimeBetweenDates: 'timeDifference',
  extractDate: 'datePart',
};
const DEFAULTS = {
  includeTime: true,
  magnitude: '',
  timeUnit: 'days',
  duration: 0,
  date: '',
  format: 'MM/dd/yyyy',
  customFormat: '',
  mode: 'roundDown',
  toNearest: 'month',
  to: 'month',
  startDate: '',
  endDate: '',
  units: ['day'],
  part: 'month',
};

export function translateDateTime(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  const inputs = { zone: at.around.names.zone };
  const options = objectOf(parameters['options']);
  if (node.version < 2) {
    const used = Object.fromEntries(
      Object.entries(OLD_DEFAULTS).map(([name, value]) => [name, parameters[name] ?? value]),
    );
    return addForEach(at, {
      parts: [DATES, OLD_DATE_NODE],
      parameters: { ...used, options },
      makes: 'oldDateNode(item, parameters)',
      failing: 'error',
      inputs,
    });
  }
  const operation = textOf(parameters['operation']) ?? 'getCurrentDate';
  if (!Object.hasOwn(FIELDS, operation)) throw new NotTranslatable(`its operation "${operation}" has no equivalent`);
  const used = Object.fromEntries(Object.entries(DEFAULTS).map(([name, value]) => [name, parameters[name] ?? value]));
  const isIncluded = valueAt(options, 'includeInputFields') === true;
  return addForEach(at, {
    parts: [DATES, DATE_NODE],
    parameters: { ...used, outputFieldName: parameters['outputFieldName'] ?? FIELDS[operation], options },
    makes: `dateNode(item, parameters, ${JSON.stringify(operation)}, ${isIncluded})`,
    failing: 'error',
    inputs,
  });
}
