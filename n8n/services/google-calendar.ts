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
        // In newer files the times are beside the options.
        const timeOf = (name: string): unknown => moment(given, `options.${name}`) ?? moment(given, name);
        const order = given.value('options.orderBy');
        return filled({
          calendarId: given.id('calendar'),
          timeMin: timeOf('timeMin'),
          timeMax: timeOf('timeMax'),
          ...given.fields('options', { query: 'q', singleEvents: 'singleEvents' }),
          orderBy: isObject(order) || order === '' ? undefined : order,
          maxResults: isAll ? 2500 : own,
        });
      },
      differs: (given) => [
        given.raw('returnAll') === true && 'Here come the first 2,500 events at most, and not all.',
        'n8n adds the next date to events that come back.',
      ],
    },
  },
};
