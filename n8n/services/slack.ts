// The operations of n8n's Slack node, from its version 2 on, and the actions that they become.
import { isObject, type JsonObject } from '../../graph/json.js';
import { NotTranslatable } from '../node-translation.js';
import { filled, type Given } from './given.js';
import type { After, Service } from './operation.js';

/** Slack answers a refused request with the status 200 and `ok: false`. */
const SLACK = String.raw`
const slackItems = ([answer], field) => {
  if (answer?.ok === false) throw new Error('Slack error response: "' + answer.error + '"');
  return [field === undefined ? answer : answer?.[field] ?? []].flat();
};
`;

function after(field?: string): After {
  return { part: SLACK, returns: `slackItems(items${field === undefined ? '' : `, '${field}'`})` };
}

function channel(given: Given): string {
  return given.id('channelId', /\/([CGD][A-Z0-9]+)(?:\/|$)/);
}

/** Returns the recipient of a message: a channel, or a person by an id or a name. */
function target(given: Given): string {
  if (given.word('select', 'channel') !== 'user') return channel(given);
  const user = given.id('user');
  const raw = given.raw('user');
  return isObject(raw) && raw['mode'] === 'username' && !user.startsWith('@') ? `@${user}` : user;
}

function content(given: Given): JsonObject {
  const kind = given.word('messageType', 'text');
  if (kind === 'text') return { text: given.text('text') };
  if (kind !== 'block') throw new NotTranslatable(`messages of the type "${kind}" have no equivalent`);
  const text = given.text('text');
  return { blocks: blocksOf(given), ...(text !== '' && { text }) };
}

function blocksOf(given: Given): unknown {
  const raw = given.raw('blocksUi') ?? {};
  const read = typeof raw === 'string' ? given.at.jsonText(raw, 'blocksUi') : given.at.value(raw, 'blocksUi');
  if (isObject(read)) return read['blocks'] ?? [];
  const [, variable] = /^\{\{ (\S+) \}\}$/.exec(String(read)) ?? [];
  if (variable === undefined) throw new NotTranslatable('its blocks are no JSON that can be translated');
  return `{{ ${variable}.blocks }}`;
}

function signature(given: Given): (string | false)[] {
  const { version } = given.at.node;
  const isSigned = given.raw('otherOptions.includeLinkToWorkflow') ?? version >= 2.1;
  return [isSigned !== false && 'The line with which n8n signs a message is left out.'];
}

function timestamp(given: Given): JsonObject {
  return { channel: channel(given), timestamp: given.text('timestamp') };
}

const MOST = 999;

function notAll(given: Given): (string | false)[] {
  return [given.raw('returnAll') === true && `Here come the first ${MOST} at most, and not all.`];
}

function limit(given: Given, byDefault: number): unknown {
  const own = given.number('limit') ?? byDefault;
  return given.raw('returnAll') === true ? MOST : own;
}

export const slack: Service = {
  id: 'slack',
  name: 'Slack',
  since: 2,
  resource: 'message',
  byDefault: { message: 'post', channel: 'create', reaction: 'add', user: 'info' },
  operations: {
    'message/post': {
      action: 'chat.postMessage',
      values: (given) => {
        if (given.raw('otherOptions.ephemeral') !== undefined)
          throw new NotTranslatable('only one person sees its message');
        return {
          channel: target(given),
          ...content(given),
          ...given.fields('otherOptions.thread_ts.replyValues', {
            thread_ts: 'thread_ts',
            reply_broadcast: 'reply_broadcast',
          }),
          ...given.fields('otherOptions', { mrkdwn: 'mrkdwn', unfurl_links: 'unfurl_links' }),
        };
      },
      after: after(),
      differs: signature,
    },
    'message/update': {
      action: 'chat.update',
      values: (given) => ({ channel: channel(given), ts: given.text('ts'), ...content(given) }),
      after: after(),
      differs: signature,
    },
    'message/delete': {
      action: 'chat.delete',
      values: (given) => ({ channel: target(given), ts: given.text('timestamp') }),
      after: after(),
    },
    'message/getPermalink': {
      action: 'chat.getPermalink',
      values: (given) => ({ channel: channel(given), message_ts: given.text('timestamp') }),
      after: after(),
    },
    'channel/create': {
      action: 'conversations.create',
      values: (given) => ({
        name: channel(given).replace(/^#/, ''),
        is_private: given.word('channelVisibility', 'public') === 'private',
      }),
      after: after('channel'),
    },
    'channel/invite': {
      action: 'conversations.invite',
      values: (given) => ({ channel: channel(given), users: given.list('userIds').join(',') }),
      after: after('channel'),
    },
    'channel/history': {
      action: 'conversations.history',
      values: (given) =>
        filled({
          channel: channel(given),
          limit: limit(given, 100),
          ...given.fields('filters', { inclusive: 'inclusive' }),
        }),
      after: after('messages'),
      differs: notAll,
    },
    'channel/getAll': {
      action: 'conversations.list',
      values: (given) =>
        filled({
          types: given.list('filters.types').join(',') || undefined,
          ...given.fields('filters', { excludeArchived: 'exclude_archived' }),
          limit: limit(given, 100),
        }),
      after: after('channels'),
      differs: notAll,
    },
    'reaction/add': {
      action: 'reactions.add',
      values: (given) => ({ ...timestamp(given), name: given.text('name') }),
      after: after(),
    },
    'user/getAll': {
      action: 'users.list',
      values: (given) => ({ limit: limit(given, 50) }),
      after: after('members'),
      differs: notAll,
    },
  },
};
