// The operations of n8n's nodes for mail and short messages, and the actions that they become: Outlook, SendGrid and
// Twilio.
import type { JsonObject } from '../../graph/json.js';
import { NotTranslatable } from '../node-translation.js';
import { filled, type Given } from './given.js';
import type { Service } from './operation.js';

function recipients(given: Given, path: string): JsonObject[] {
  return given.list(path).map((address) => ({ emailAddress: { address } }));
}

/** True if an address is an expression, which counts as one address although it may give several. */
function hasOpenList(given: Given, ...paths: string[]): boolean {
  return paths.some((path) => given.list(path).some((address) => address.includes('{{')));
}

const ONE_ADDRESS = 'An expression for addresses must give one address here.';

export const outlook: Service = {
  id: 'microsoft-graph',
  name: 'Microsoft Outlook',
  since: 2,
  resource: 'message',
  byDefault: { message: 'send' },
  operations: {
    'message/send': {
      action: 'send_mail',
      values: (given) => {
        if (given.raw('additionalFields.attachments') !== undefined)
          throw new NotTranslatable('it sends files of an item');
        const kind = given.text('additionalFields.bodyContentType');
        return {
          message: filled({
            subject: given.text('subject'),
            body: filled({
              content: given.text('bodyContent') || ' ',
              contentType: kind === '' ? undefined : kind,
            }),
            toRecipients: recipients(given, 'toRecipients'),
            ccRecipients: recipients(given, 'additionalFields.ccRecipients'),
            bccRecipients: recipients(given, 'additionalFields.bccRecipients'),
            replyTo: recipients(given, 'additionalFields.replyTo'),
            ...given.fields('additionalFields', { importance: 'importance' }),
          }),
          saveToSentItems: given.raw('additionalFields.saveToSentItems') ?? true,
        };
      },
      gives: () => ({ success: true }),
      differs: (given) => [
        hasOpenList(
          given,
          'toRecipients',
          'additionalFields.ccRecipients',
          'additionalFields.bccRecipients',
          'additionalFields.replyTo',
        ) && ONE_ADDRESS,
      ],
    },
    'message/move': {
      action: 'move_message',
      values: (given) => ({ ...ofMessage(given), destinationId: given.id('folderId') }),
      gives: () => ({ success: true }),
    },
    'message/update': {
      action: 'update_message',
      values: (given) => {
        if (given.raw('updateFields.folderId') !== undefined)
          throw new NotTranslatable('it moves the message and changes it');
        return {
          ...ofMessage(given),
          ...given.fields('updateFields', { isRead: 'isRead', categories: 'categories', importance: 'importance' }),
        };
      },
    },
  },
};

function ofMessage(given: Given): JsonObject {
  return { 'message-id': given.id('messageId') };
}

export const sendGrid: Service = {
  id: 'sendgrid',
  name: 'SendGrid',
  resource: 'list',
  byDefault: { mail: 'send' },
  operations: {
    'mail/send': {
      action: 'send_mail',
      values: (given) => {
        if ((given.raw('dynamicTemplate') ?? false) !== false) throw new NotTranslatable('its text is a template');
        if (given.text('additionalFields.attachments') !== '') throw new NotTranslatable('it sends files of an item');
        const emails = (path: string): JsonObject[] => given.list(path).map((email) => ({ email }));
        return {
          personalizations: [
            filled({
              to: emails('toEmail'),
              cc: emails('additionalFields.ccEmail'),
              bcc: emails('additionalFields.bccEmail'),
            }),
          ],
          from: { email: given.text('fromEmail'), name: given.text('fromName') },
          subject: given.text('subject'),
          content: [{ type: given.word('contentType', 'text/plain'), value: given.text('contentValue') }],
        };
      },
      gives: () => ({}),
      differs: (given) => [
        'n8n puts out the id of the message, which stands in the headers of the answer.',
        hasOpenList(given, 'toEmail', 'additionalFields.ccEmail', 'additionalFields.bccEmail') && ONE_ADDRESS,
      ],
    },
  },
};

export const twilio: Service = {
  id: 'twilio',
  name: 'Twilio',
  resource: 'sms',
  byDefault: { sms: 'send', call: 'make' },
  operations: {
    'sms/send': {
      action: 'CreateMessage',
      values: (given) => {
        const to = given.raw('toWhatsapp') === true ? 'whatsapp:' : '';
        return {
          AccountSid: '',
          From: `${to}${given.text('from')}`,
          To: `${to}${given.text('to')}`,
          Body: given.text('message'),
          ...given.fields('options', { statusCallback: 'StatusCallback' }),
        };
      },
      differs: () => ['Fill in "AccountSid", which n8n takes from its credentials.'],
    },
  },
};
