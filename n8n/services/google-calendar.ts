// The operations of n8n's Google Calendar node, and the actions that they become.
import { isObject, type JsonObject } from '../../graph/json.js';
import { textOf } from '../n8n-file.js';
import { filled, type Given } from './given.js';
import type { Service } from './operation.js';

const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

/** A literal time without an offset is a time in the zone of the workflow. */
function moment(given: Given, path: string): unknown {
  const raw = textOf(given.raw(path));
  if (raw === undefined || !LOCAL_TIME.test(raw)) return given.value(path);
  const time = JSON.stringify(raw.replace(' ', 'T'));
  return given.at.value(`={{ DateTime.fromISO(${time}).toISO() }}`, path);
}

function dateOrTime(given: Given, path: string): JsonObject {
  const zone = given.at.names.zone;
  if (given.word('additionalFields.allday', 'no') === 'yes') {
    const raw = textOf(given.raw(path)) ?? '';
    const [date = given.text(path)] = /^\d{4}-\d{2}-\d{2}/.exec(raw) ?? [];
    return { date };
  }
  return { dateTime: moment(given, path) ?? '', timeZone: zone };
}

/** From this version on, the node lists the events of the next week by default, each date of its own. */
const SINCE_DATES = 1.3;
const TIMES: Readonly<Record<string, string>> = { timeMin: '={{ $now }}', timeMax: '={{ $now.plus({ week: 1 }) }}' };

/** Returns a bound of the listed events, undefined if none. In newer files the bound is beside the options. */
function bound(given: Given, name: 'timeMin' | 'timeMax'): unknown {
  const set = moment(given, `options.${name}`) ?? moment(given, name);
  if (set !== undefined && set !== null) return set === '' ? undefined : set;
  return given.at.node.version >= SINCE_DATES ? given.at.value(TIMES[name], name) : undefined;
}

/** How events that come back are listed. Earlier versions have an option for single dates instead. */
function recurring(given: Given): string | undefined {
  if (given.at.node.version < SINCE_DATES) return undefined;
  return given.word('options.recurringEventHandling', 'expand') || 'expand';
}

function ofEvent(given: Given): JsonObject {
  return { calendarId: given.id('calendar'), eventId: given.text('eventId') };
}

export const googleCalendar: Service = {
  id: 'google-calendar',
  name: 'Google Calendar',
  resource: 'event',
  byDefault: { event: 'create', calendar: 'availability' },
  operations: {
    'event/create': {
      action: 'events.insert',
      values: (given) => {
        const rule = given.text('additionalFields.rrule');
        return filled({
          calendarId: given.id('calendar'),
          start: dateOrTime(given, 'start'),
          end: dateOrTime(given, 'end'),
          ...given.fields('additionalFields', {
            summary: 'summary',
            description: 'description',
            location: 'location',
            sendUpdates: 'sendUpdates',
          }),
          attendees: given.list('additionalFields.attendees').map((email) => ({ email })),
          recurrence: rule === '' ? undefined : [`RRULE:${rule}`],
        });
      },
      differs: (given) => [
        given.raw('useDefaultReminders') === false && 'Its own reminders are left out: those of the calendar count.',
      ],
    },
    'event/get': { action: 'events.get', values: ofEvent },
    'event/delete': {
      action: 'events.delete',
      values: (given) => ({ ...ofEvent(given), ...given.fields('options', { sendUpdates: 'sendUpdates' }) }),
      gives: () => ({ success: true }),
    },
    'event/getAll': {
      action: 'events.list',
      items: 'items',
      values: (given) => {
        const own = given.number('limit') ?? 50;
        const isAll = given.raw('returnAll') === true;
        const order = given.value('options.orderBy');
        return filled({
          calendarId: given.id('calendar'),
          timeMin: bound(given, 'timeMin'),
          timeMax: bound(given, 'timeMax'),
          ...given.fields('options', { query: 'q', singleEvents: 'singleEvents' }),
          ...(recurring(given) === 'expand' && { singleEvents: true }),
          orderBy: isObject(order) || order === '' ? undefined : order,
          maxResults: isAll ? 2500 : own,
        });
      },
      differs: (given) => [
        given.raw('returnAll') === true && 'Here come the first 2,500 events at most, and not all.',
        recurring(given) === undefined && 'n8n adds the next date to events that come back.',
        recurring(given) === 'next' && 'n8n puts out the next date of events that come back, and not the events.',
        recurring(given) === 'first' && 'n8n leaves out events that come back and were made outside of the times.',
      ],
    },
  },
};
