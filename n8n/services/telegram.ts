// The operations of n8n's Telegram node, and the actions that they become.
import { isObject, type JsonObject } from '../../graph/json.js';
import { objectsOf, valueAt } from '../n8n-file.js';
import { NotTranslatable } from '../node-translation.js';
import type { Service } from './operation.js';
import { filled, type Given } from './given.js';

function chat(given: Given): JsonObject {
  return { chat_id: given.value('chatId') ?? '' };
}

function message(given: Given): JsonObject {
  return { ...chat(given), message_id: given.number('messageId') ?? '' };
}

function replyTo(given: Given): JsonObject {
  const id = given.number('additionalFields.reply_to_message_id');
  return id === undefined || id === '' || id === 0 ? {} : { reply_parameters: { message_id: id } };
}

/** Returns the buttons below a message, a keyboard in place of the usual one, or another `reply_markup` of the file. */
function markup(given: Given): JsonObject {
  const kind = given.word('replyMarkup', 'none');
  if (kind === 'none') return {};
  if (kind !== 'inlineKeyboard' && kind !== 'replyKeyboard') {
    const value = given.value(kind);
    return isObject(value) ? { reply_markup: value } : {};
  }
  const rows = objectsOf(valueAt(given.raw(kind), 'rows')).map((row) =>
    objectsOf(valueAt(row, 'row', 'buttons')).map((button) => {
      const more = given.at.value(button['additionalFields'] ?? {}, kind);
      return { text: given.at.text(button['text'] ?? '', kind), ...(isObject(more) && more) };
    }),
  );
  const options = given.value('replyKeyboardOptions');
  if (kind === 'inlineKeyboard') return { reply_markup: { inline_keyboard: rows } };
  return { reply_markup: { keyboard: rows, ...(isObject(options) && options) } };
}

const COMMON = { disable_notification: 'disable_notification', message_thread_id: 'message_thread_id' };

function differencesOfText(given: Given): (string | false)[] {
  const attribution = given.raw('additionalFields.appendAttribution');
  const preview = given.raw('additionalFields.disable_web_page_preview');
  const { version } = given.at.node;
  return [
    version >= 1.1 && (attribution ?? true) !== false && 'The line with which n8n signs a message is left out.',
    (preview === true || (preview === undefined && version >= 1.2)) && 'A link in the message gets a preview here.',
  ];
}

function file(given: Given, field: string): JsonObject {
  if ((given.raw('binaryData') ?? false) !== false) throw new NotTranslatable('it sends a file of an item');
  const names = { caption: 'caption', parse_mode: 'parse_mode' };
  return { ...chat(given), [field]: given.text('file'), ...given.fields('additionalFields', names) };
}

export const telegram: Service = {
  id: 'telegram',
  name: 'Telegram',
  resource: 'message',
  byDefault: { message: 'sendMessage', chat: 'get', callback: 'answerQuery', file: 'get' },
  operations: {
    'message/sendMessage': {
      action: 'sendMessage',
      values: (given) => ({
        ...chat(given),
        text: given.text('text'),
        parse_mode: 'Markdown',
        ...given.fields('additionalFields', { ...COMMON, parse_mode: 'parse_mode' }),
        ...replyTo(given),
        ...markup(given),
      }),
      differs: differencesOfText,
    },
    'message/editMessageText': {
      action: 'editMessageText',
      values: (given) => {
        if (given.word('messageType', 'message') === 'inlineMessage')
          throw new NotTranslatable('it changes an inline message');
        return {
          ...message(given),
          text: given.text('text'),
          ...given.fields('additionalFields', { parse_mode: 'parse_mode' }),
          ...markup(given),
        };
      },
    },
    'message/deleteMessage': { action: 'deleteMessage', values: message },
    'message/sendPhoto': { action: 'sendPhoto', values: (given) => file(given, 'photo') },
    'message/sendDocument': { action: 'sendDocument', values: (given) => file(given, 'document') },
    'callback/answerQuery': {
      action: 'answerCallbackQuery',
      values: (given) => ({
        callback_query_id: given.text('queryId'),
        ...given.fields('additionalFields', { text: 'text', show_alert: 'show_alert', url: 'url' }),
      }),
    },
    'chat/get': { action: 'getChat', values: chat },
    'file/get': {
      action: 'getFile',
      values: (given) => filled({ file_id: given.text('fileId') }),
      differs: (given) => [
        given.raw('download') !== false && 'The file is not downloaded: here come its facts, with its path.',
      ],
    },
  },
};
