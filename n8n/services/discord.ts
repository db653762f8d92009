// The operations of n8n's Discord node, from its version 2 on, and the actions that they become.
import { NotTranslatable } from '../node-translation.js';
import { filled, type Given } from './given.js';
import type { Service } from './operation.js';

const CHANNEL = /discord\.com\/channels\/\d+\/(\d+)/;
const SERVER = /discord\.com\/channels\/(\d+)/;

function channel(given: Given): string {
  given.raw('guildId');
  if (given.word('authentication', 'botToken') === 'webhook')
    throw new NotTranslatable('it sends to the address of a webhook');
  return given.id('channelId', CHANNEL);
}

export const discord: Service = {
  id: 'discord',
  name: 'Discord',
  since: 2,
  resource: 'channel',
  byDefault: { message: 'send', channel: 'create', member: 'getAll' },
  operations: {
    'message/send': {
      action: 'create_message',
      values: (given) => {
        if (given.word('sendTo', 'channel') !== 'channel') throw new NotTranslatable('it sends to a person');
        if (Array.isArray(given.raw('files.values'))) throw new NotTranslatable('it sends files of an item');
        const answered = given.text('options.message_reference');
        return filled({
          channel_id: channel(given),
          content: given.text('content'),
          ...given.fields('options', { tts: 'tts' }),
          message_reference: answered === '' ? undefined : { message_id: answered },
        });
      },
    },
    'message/deleteMessage': {
      action: 'delete_message',
      values: (given) => ({ channel_id: channel(given), message_id: given.text('messageId') }),
      gives: () => ({ success: true }),
    },
    'message/getAll': {
      action: 'get_channel_messages',
      values: (given) => ({
        channel_id: channel(given),
        limit: given.raw('returnAll') === true ? 100 : (given.number('limit') ?? 50),
      }),
      differs: (given) => [
        given.raw('returnAll') === true && 'Here come the latest 100 messages, and not all.',
        given.raw('options.simplify') === true && 'The messages come as Discord gives them.',
      ],
    },
    'member/roleAdd': {
      action: 'add_guild_member_role',
      values: (given) => {
        const roles = given.raw('role');
        if (!Array.isArray(roles) || roles.length !== 1) throw new NotTranslatable('it adds several roles');
        return {
          guild_id: given.id('guildId', SERVER),
          user_id: given.id('userId'),
          role_id: given.at.text(roles[0], 'role'),
        };
      },
      gives: () => ({ success: true }),
    },
  },
};
