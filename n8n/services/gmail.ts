// The operations of n8n's Gmail node, from its version 2 on, and the actions that they become.
import { addData } from '../data-node.js';
import type { JsonObject } from '../../graph/json.js';
import { NotTranslatable, oneWay, type TranslatedNode } from '../node-translation.js';
import { wholePlace } from '../json-places.js';
import { addAction, warnOfDifferences } from './add-action.js';
import type { Given } from './given.js';
import type { After, Service } from './operation.js';

/** `rawMail(mail)`: a message of RFC 5322 in base64url, as Gmail takes it. */
const MAIL = String.raw`
const toBase64 = (text) => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const bytes = unescape(encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')));
  let made = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [one, two, three] = [0, 1, 2].map((more) => bytes.charCodeAt(at + more));
    made += letters[one >> 2] + letters[((one & 3) << 4) | (two >> 4)]
      + (Number.isNaN(two) ? '=' : letters[((two & 15) << 2) | (three >> 6)])
      + (Number.isNaN(three) ? '=' : letters[three & 63]);
  }
  return made;
};
const inOneLine = (text) => String(text ?? '').replace(/[\r\n]+/g, ' ').trim();
const inHeader = (text) => (/^[\x20-\x7e]*$/.test(text) ? text : Array.from(
  text.match(/.{1,10}/gsu) ?? [], (part) => '=?UTF-8?B?' + toBase64(part) + '?=').join('\r\n '));
const addressesOf = (text, field) => inOneLine(text).split(',').map((entry) => entry.trim()).filter((entry) => entry !== '').map((entry) => {
  if (!entry.includes('@')) throw new Error("The email address '" + entry + "' in the '" + field + "' field isn't valid");
  const [, name, address] = /^"?([^"<]*)"?\s*<([^>]*)>$/.exec(entry) ?? [undefined, '', entry];
  return name.trim() === '' ? address : inHeader(name.trim()) + ' <' + address + '>';
}).join(', ');
const rawMail = ({ to, cc, bcc, replyTo, from, subject, type, body }) => {
  const headers = [
    ['From', inOneLine(from)], ['To', addressesOf(to, 'To')], ['Cc', addressesOf(cc, 'CC')], ['Bcc', addressesOf(bcc, 'BCC')],
    ['Reply-To', addressesOf(replyTo, 'ReplyTo')], ['Subject', inHeader(inOneLine(subject))], ['MIME-Version', '1.0'],
    ['Content-Type', (type === 'html' ? 'text/html' : 'text/plain') + '; charset=utf-8'], ['Content-Transfer-Encoding', 'base64'],
  ].filter(([, value]) => value !== '').map(([name, value]) => name + ': ' + value);
  const lines = toBase64(String(body ?? '').trim()).match(/.{1,76}/g) ?? [];
  return toBase64([...headers, '', ...lines].join('\r\n')).replace(/\+/g, '-').replace(/\//g, '_');
};
`;

/** Adds a code node that writes the message, and the request that sends it or stores it as a draft. */
function mail(given: Given, service: Service, isDraft: boolean): TranslatedNode {
  const { at } = given;
  const { version } = at.node;
  if (given.raw('options.attachmentsUi') !== undefined) throw new NotTranslatable('it sends files of an item');
  const type = given.word('emailType', isDraft ? 'text' : 'html');
  const raw = (path: string): unknown => given.raw(path) ?? '';
  const written = addData(
    at,
    {
      parts: [MAIL],
      parameters: {
        to: raw(isDraft ? 'options.sendTo' : 'sendTo'),
        cc: raw('options.ccList'),
        bcc: raw('options.bccList'),
        replyTo: raw('options.replyTo'),
        from: isDraft ? raw('options.fromAlias') : '',
        subject: raw('subject'),
        type,
        body: raw('message'),
      },
      returns: 'rawMail(parametersOf(0))',
      failing: null,
      keepsItems: false,
    },
    'message',
  );
  const message: JsonObject = { raw: `{{ ${written}.result.value }}` };
  const threadId = isDraft ? given.text('options.threadId') : '';
  const values = isDraft
    ? { userId: 'me', message: { ...message, ...(threadId !== '' && { threadId }) } }
    : { userId: 'me', ...message };
  const id = addAction(at, service, isDraft ? 'users.drafts.create' : 'users.messages.send', values);
  at.link({ id: written, handle: null }, id);
  const isSigned = !isDraft && (given.raw('options.appendAttribution') ?? version >= 2.1) !== false;
  warnOfDifferences(given, [isSigned && 'The line with which n8n signs a message is left out.']);
  const place = wholePlace(`${id}.result.json`, `${id}.result.status_code`, at.around.order);
  return { ...oneWay(id, { ...place, items: 'unknown' }), entry: written, main: id };
}

function ofMessage(given: Given): JsonObject {
  return { userId: 'me', id: given.text('messageId') };
}

/** Cuts the labels to `limit` unless the file asks for all, because Gmail always returns all labels. */
function firstLabels(given: Given): After {
  const returns = '(items[0]?.labels ?? [])';
  const limit = given.number('limit') ?? 50;
  if (given.raw('returnAll') === true) return { part: '', returns };
  return { part: '', returns: `${returns}.slice(0, Number(inputs.limit))`, inputs: { limit } };
}

export const gmail: Service = {
  id: 'gmail',
  name: 'Gmail',
  since: 2,
  resource: 'message',
  byDefault: { message: 'send', label: 'getAll', draft: 'create', thread: 'getAll' },
  operations: {
    'message/send': (given, service) => mail(given, service, false),
    'draft/create': (given, service) => mail(given, service, true),
    'message/get': {
      action: 'users.messages.get',
      values: (given) => ({
        ...ofMessage(given),
        ...(given.raw('simple') === false
          ? { format: 'full' }
          : { format: 'metadata', metadataHeaders: ['From', 'To', 'Cc', 'Bcc', 'Subject'] }),
      }),
      differs: () => ['n8n reads the message, and puts out its parts. Here it comes as Gmail gives it.'],
    },
    'message/markAsRead': {
      action: 'users.messages.modify',
      values: (given) => ({ ...ofMessage(given), removeLabelIds: ['UNREAD'] }),
    },
    'message/markAsUnread': {
      action: 'users.messages.modify',
      values: (given) => ({ ...ofMessage(given), addLabelIds: ['UNREAD'] }),
    },
    'message/addLabels': {
      action: 'users.messages.modify',
      values: (given) => ({ ...ofMessage(given), addLabelIds: given.value('labelIds') ?? [] }),
    },
    'message/removeLabels': {
      action: 'users.messages.modify',
      values: (given) => ({ ...ofMessage(given), removeLabelIds: given.value('labelIds') ?? [] }),
    },
    'label/getAll': {
      action: 'users.labels.list',
      values: () => ({ userId: 'me' }),
      after: firstLabels,
    },
  },
};
