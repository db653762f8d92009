// Service nodes of n8n become actions: the same request as n8n sends, and a warning where something differs.
import assert from 'node:assert/strict';
import { findCatalogueAction } from '../../api/services/catalogue.js';
import { toFacts } from '../../api/services/service-view.js';
import { renderAction } from '../../graph/actions/render-request.js';
import { valueErrors } from '../../graph/actions/check-values.js';
import type { JsonObject } from '../../graph/json.js';
import { services } from '../../n8n/services/translate-service.js';
import { translateN8n } from '../../n8n/translate-n8n.js';
import { playNodes } from './play-nodes.js';

interface Sample {
  version?: number;
  parameters: JsonObject;
  /** The request of the last action: method, address without its scheme, and body. */
  sends: [request: string, body?: unknown];
  /** The warnings, without the one that asks for the connection. */
  warns?: string[];
  /** The values that a person fills in. */
  missing?: string[];
}

const rlc = (value: string, mode = 'id', more: JsonObject = {}): JsonObject => ({ __rl: true, mode, value, ...more });
const SIGNED = 'The line with which n8n signs a message is left out.';
const SITE = 'Fill in "cloudId", the site of Jira, which n8n takes from its credentials.';
const ROW = { documentId: rlc('doc'), sheetName: rlc('gid=0', 'list', { cachedResultName: "Ada's" }) };

/** By the type of the node, the resource and the operation. */
const samples: Record<string, Sample> = {
  'telegram message/sendMessage': {
    version: 1.2,
    parameters: {
      chatId: '42',
      text: 'Hello',
      replyMarkup: 'inlineKeyboard',
      inlineKeyboard: { rows: [{ row: { buttons: [{ text: 'Yes', additionalFields: { callback_data: 'y' } }] } }] },
      additionalFields: { appendAttribution: false, disable_web_page_preview: false, parse_mode: 'HTML' },
    },
    sends: [
      'POST api.telegram.org/bot/sendMessage',
      {
        chat_id: '42',
        text: 'Hello',
        parse_mode: 'HTML',
        reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }]] },
      },
    ],
  },
  'telegram message/editMessageText': {
    parameters: { operation: 'editMessageText', chatId: '42', messageId: '7', text: 'New', additionalFields: {} },
    sends: ['POST api.telegram.org/bot/editMessageText', { chat_id: '42', message_id: 7, text: 'New' }],
  },
  'telegram message/deleteMessage': {
    parameters: { operation: 'deleteMessage', chatId: '42', messageId: '7' },
    sends: ['POST api.telegram.org/bot/deleteMessage', { chat_id: '42', message_id: 7 }],
  },
  'telegram message/sendPhoto': {
    parameters: {
      operation: 'sendPhoto',
      chatId: '42',
      file: 'https://e.com/a.png',
      additionalFields: { caption: 'A' },
    },
    sends: ['POST api.telegram.org/bot/sendPhoto', { chat_id: '42', photo: 'https://e.com/a.png', caption: 'A' }],
  },
  'telegram message/sendDocument': {
    parameters: { operation: 'sendDocument', chatId: '42', file: 'ID', additionalFields: { fileName: 'x' } },
    sends: ['POST api.telegram.org/bot/sendDocument', { chat_id: '42', document: 'ID' }],
    warns: ['These parameters have no equivalent and were left out: additionalFields.fileName.'],
  },
  'telegram callback/answerQuery': {
    parameters: { resource: 'callback', queryId: 'q', additionalFields: { text: 'Done' } },
    sends: ['POST api.telegram.org/bot/answerCallbackQuery', { callback_query_id: 'q', text: 'Done' }],
  },
  'telegram chat/get': {
    parameters: { resource: 'chat', chatId: '42' },
    sends: ['GET api.telegram.org/bot/getChat?chat_id=42'],
  },
  'telegram file/get': {
    parameters: { resource: 'file', fileId: 'f', download: false },
    sends: ['GET api.telegram.org/bot/getFile?file_id=f'],
  },
  'slack message/post': {
    version: 2.2,
    parameters: {
      select: 'channel',
      channelId: rlc('C1', 'list'),
      text: 'Hello',
      otherOptions: { thread_ts: { replyValues: { thread_ts: '1.2' } }, mrkdwn: false },
    },
    sends: ['POST slack.com/api/chat.postMessage', { channel: 'C1', text: 'Hello', thread_ts: '1.2', mrkdwn: false }],
    warns: [SIGNED],
  },
  'slack message/update': {
    version: 2,
    parameters: { operation: 'update', channelId: rlc('C1'), ts: '1.2', text: 'New' },
    sends: ['POST slack.com/api/chat.update', { channel: 'C1', ts: '1.2', text: 'New' }],
  },
  'slack message/delete': {
    version: 2,
    parameters: { operation: 'delete', select: 'channel', channelId: rlc('C1'), timestamp: '1.2' },
    sends: ['POST slack.com/api/chat.delete', { channel: 'C1', ts: '1.2' }],
  },
  'slack message/getPermalink': {
    version: 2,
    parameters: { operation: 'getPermalink', channelId: rlc('C1'), timestamp: '1.2' },
    sends: ['GET slack.com/api/chat.getPermalink?channel=C1&message_ts=1.2'],
  },
  'slack channel/create': {
    version: 2,
    parameters: { resource: 'channel', channelId: '#news', channelVisibility: 'private' },
    sends: ['POST slack.com/api/conversations.create', { name: 'news', is_private: true }],
  },
  'slack channel/invite': {
    version: 2,
    parameters: { resource: 'channel', operation: 'invite', channelId: rlc('C1'), userIds: ['U1', 'U2'] },
    sends: ['POST slack.com/api/conversations.invite', { channel: 'C1', users: 'U1,U2' }],
  },
  'slack channel/history': {
    version: 2,
    parameters: { resource: 'channel', operation: 'history', channelId: rlc('C1'), filters: {} },
    sends: ['GET slack.com/api/conversations.history?channel=C1&limit=100'],
  },
  'slack channel/getAll': {
    version: 2,
    parameters: { resource: 'channel', operation: 'getAll', returnAll: true, filters: { types: ['im'] } },
    sends: ['GET slack.com/api/conversations.list?types=im&limit=999'],
    warns: ['Here come the first 999 at most, and not all.'],
  },
  'slack reaction/add': {
    version: 2,
    parameters: { resource: 'reaction', channelId: rlc('C1'), timestamp: '1.2', name: 'tea' },
    sends: ['POST slack.com/api/reactions.add', { channel: 'C1', timestamp: '1.2', name: 'tea' }],
  },
  'slack user/getAll': {
    version: 2,
    parameters: { resource: 'user', operation: 'getAll', limit: 5 },
    sends: ['GET slack.com/api/users.list?limit=5'],
  },
  'gmail message/send': {
    version: 2.1,
    parameters: { sendTo: 'ada@e.com', subject: 'Tea', message: 'Now', options: { appendAttribution: false } },
    sends: ['POST gmail.googleapis.com/gmail/v1/users/me/messages/send', { raw: '{{ node-message.result.value }}' }],
  },
  'gmail draft/create': {
    version: 2.1,
    parameters: { resource: 'draft', subject: 'Tea', message: 'Now', options: { sendTo: 'ada@e.com', threadId: 't' } },
    sends: [
      'POST gmail.googleapis.com/gmail/v1/users/me/drafts',
      { message: { raw: '{{ node-message.result.value }}', threadId: 't' } },
    ],
  },
  'gmail message/get': {
    version: 2.1,
    parameters: { operation: 'get', messageId: 'm', simple: false },
    sends: ['GET gmail.googleapis.com/gmail/v1/users/me/messages/m?format=full'],
    warns: ['n8n reads the message, and puts out its parts. Here it comes as Gmail gives it.'],
  },
  'gmail message/markAsRead': {
    version: 2.1,
    parameters: { operation: 'markAsRead', messageId: 'm' },
    sends: ['POST gmail.googleapis.com/gmail/v1/users/me/messages/m/modify', { removeLabelIds: ['UNREAD'] }],
  },
  'gmail message/markAsUnread': {
    version: 2.1,
    parameters: { operation: 'markAsUnread', messageId: 'm' },
    sends: ['POST gmail.googleapis.com/gmail/v1/users/me/messages/m/modify', { addLabelIds: ['UNREAD'] }],
  },
  'gmail message/addLabels': {
    version: 2.1,
    parameters: { operation: 'addLabels', messageId: 'm', labelIds: ['L'] },
    sends: ['POST gmail.googleapis.com/gmail/v1/users/me/messages/m/modify', { addLabelIds: ['L'] }],
  },
  'gmail message/removeLabels': {
    version: 2.1,
    parameters: { operation: 'removeLabels', messageId: 'm', labelIds: ['L'] },
    sends: ['POST gmail.googleapis.com/gmail/v1/users/me/messages/m/modify', { removeLabelIds: ['L'] }],
  },
  'gmail label/getAll': {
    version: 2.1,
    parameters: { resource: 'label' },
    sends: ['GET gmail.googleapis.com/gmail/v1/users/me/labels'],
  },
  'googleSheets sheet/read': {
    version: 4.5,
    parameters: { ...ROW, options: {} },
    sends: [
      'GET sheets.googleapis.com/v4/spreadsheets/doc/values/%27Ada%27%27s%27?valueRenderOption=UNFORMATTED_VALUE&dateTimeRenderOption=FORMATTED_STRING',
    ],
  },
  'googleSheets sheet/append': {
    version: 4.5,
    parameters: {
      operation: 'append',
      ...ROW,
      columns: { mappingMode: 'defineBelow', value: { Name: 'Ada' }, schema: [{ id: 'Name' }] },
      options: {},
    },
    sends: [
      'POST sheets.googleapis.com/v4/spreadsheets/doc/values/%27Ada%27%27s%27:append?valueInputOption=USER_ENTERED&insertDataOption=INSERT_ROWS',
      { values: '{{ node-row.result.value.row }}' },
    ],
    warns: ['Choose the connection to Google Sheets for "Node (first row)", too: credentials are not taken over.'],
  },
  'googleSheets sheet/update': {
    version: 4.5,
    parameters: {
      operation: 'update',
      ...ROW,
      columns: { mappingMode: 'defineBelow', value: { Name: 'Ada', Age: 37 }, matchingColumns: ['Name'] },
    },
    sends: [
      'PUT sheets.googleapis.com/v4/spreadsheets/doc/values/%7B%7B%20node-rows.item.range%20%7D%7D?valueInputOption=USER_ENTERED',
      { values: '{{ node-rows.item.values }}' },
    ],
    warns: ['Choose the connection to Google Sheets for "Node (sheet)", too: credentials are not taken over.'],
  },
  'googleSheets sheet/appendOrUpdate': {
    version: 4.5,
    parameters: {
      operation: 'appendOrUpdate',
      ...ROW,
      columns: { mappingMode: 'defineBelow', value: { Name: 'Ada' }, matchingColumns: ['Name'] },
    },
    sends: [
      'POST sheets.googleapis.com/v4/spreadsheets/doc/values/%27Ada%27%27s%27:append?valueInputOption=USER_ENTERED&insertDataOption=INSERT_ROWS',
      { values: '{{ node-added.item }}' },
    ],
    warns: [
      'Choose the connection to Google Sheets for "Node (sheet)", too: credentials are not taken over.',
      'Choose the connection to Google Sheets for "Node (append)", too: credentials are not taken over.',
    ],
  },
  'supabase row/create': {
    parameters: { tableId: 'people', fieldsUi: { fieldValues: [{ fieldId: 'name', fieldValue: 'Ada' }] } },
    sends: ['POST site.supabase.co/rest/v1/people', { name: 'Ada' }],
  },
  'supabase row/getAll': {
    parameters: { operation: 'getAll', tableId: 'people', filterType: 'none', limit: 5 },
    sends: ['GET site.supabase.co/rest/v1/people?limit=5'],
  },
  'googleDrive file/copy': {
    version: 3,
    parameters: { operation: 'copy', fileId: rlc('https://drive.google.com/file/d/F1/view', 'url'), name: 'Copy' },
    sends: ['POST www.googleapis.com/drive/v3/files/F1/copy?supportsAllDrives=true', { name: 'Copy' }],
  },
  'googleDrive file/deleteFile': {
    version: 3,
    parameters: { operation: 'deleteFile', fileId: rlc('F1'), options: {} },
    sends: ['PATCH www.googleapis.com/drive/v3/files/F1?supportsAllDrives=true', { trashed: true }],
  },
  'googleDrive folder/deleteFolder': {
    version: 3,
    parameters: {
      resource: 'folder',
      operation: 'deleteFolder',
      folderNoRootId: rlc('D1'),
      options: { deletePermanently: true },
    },
    sends: ['PATCH www.googleapis.com/drive/v3/files/D1?supportsAllDrives=true', { trashed: true }],
    warns: ['The file goes to the trash, and is not deleted for good.'],
  },
  'googleDrive file/download': {
    version: 3,
    parameters: { operation: 'download', fileId: rlc('F1'), options: { binaryPropertyName: 'scan' } },
    sends: ['GET www.googleapis.com/drive/v3/files/F1?alt=media&supportsAllDrives=true'],
    warns: [
      'The file of an item stands in its field "scan" here, and not beside its fields.',
      'Documents, sheets and slides of Google are not converted: a download of one fails.',
    ],
  },
  'googleDrive file/share': {
    version: 3,
    parameters: {
      operation: 'share',
      fileId: rlc('F1'),
      permissionsUi: { permissionsValues: { role: 'reader', type: 'user', emailAddress: 'ada@e.com' } },
    },
    sends: [
      'POST www.googleapis.com/drive/v3/files/F1/permissions?supportsAllDrives=true',
      { role: 'reader', type: 'user', emailAddress: 'ada@e.com' },
    ],
  },
  'googleDrive folder/share': {
    version: 3,
    parameters: {
      resource: 'folder',
      operation: 'share',
      folderNoRootId: rlc('D1'),
      permissionsUi: { permissionsValues: { role: 'reader', type: 'anyone', allowFileDiscovery: true } },
    },
    sends: [
      'POST www.googleapis.com/drive/v3/files/D1/permissions?supportsAllDrives=true',
      { role: 'reader', type: 'anyone' },
    ],
    warns: [
      'These parameters have no equivalent and were left out: permissionsUi.permissionsValues.allowFileDiscovery.',
    ],
  },
  'googleDrive folder/create': {
    version: 3,
    parameters: { resource: 'folder', name: 'New', driveId: rlc('My Drive', 'list'), folderId: rlc('root', 'list') },
    sends: [
      'POST www.googleapis.com/drive/v3/files?supportsAllDrives=true',
      { name: 'New', mimeType: 'application/vnd.google-apps.folder', parents: ['root'] },
    ],
  },
  'googleCalendar event/create': {
    version: 1.1,
    parameters: {
      calendar: rlc('ada@e.com', 'list'),
      start: '2026-01-02T00:00:00',
      end: '2026-01-03T00:00:00',
      additionalFields: { allday: 'yes', summary: 'Tea', attendees: ['a@e.com,b@e.com'], rrule: 'FREQ=DAILY' },
    },
    sends: [
      'POST www.googleapis.com/calendar/v3/calendars/ada%40e.com/events',
      {
        start: { date: '2026-01-02' },
        end: { date: '2026-01-03' },
        summary: 'Tea',
        attendees: [{ email: 'a@e.com' }, { email: 'b@e.com' }],
        recurrence: ['RRULE:FREQ=DAILY'],
      },
    ],
  },
  'googleCalendar event/get': {
    parameters: { operation: 'get', calendar: rlc('c'), eventId: 'e' },
    sends: ['GET www.googleapis.com/calendar/v3/calendars/c/events/e'],
  },
  'googleCalendar event/delete': {
    parameters: { operation: 'delete', calendar: rlc('c'), eventId: 'e', options: {} },
    sends: ['DELETE www.googleapis.com/calendar/v3/calendars/c/events/e'],
  },
  'googleCalendar event/getAll': {
    parameters: { operation: 'getAll', calendar: rlc('c'), limit: 5, options: { timeMin: '2026-01-02T00:00:00Z' } },
    sends: ['GET www.googleapis.com/calendar/v3/calendars/c/events?timeMin=2026-01-02T00%3A00%3A00Z&maxResults=5'],
    warns: ['n8n adds the next date to events that come back.'],
  },
  'airtable record/get': {
    version: 2.1,
    parameters: { base: rlc('app1'), table: rlc('tbl1'), id: 'rec1' },
    sends: ['GET api.airtable.com/v0/app1/tbl1/rec1'],
  },
  'airtable record/create': {
    version: 2.1,
    parameters: {
      operation: 'create',
      base: rlc('https://airtable.com/app1/tbl1', 'url'),
      table: rlc('https://airtable.com/app1/tbl1', 'url'),
      columns: { mappingMode: 'defineBelow', value: { Name: 'Ada' }, matchingColumns: [], schema: [{ id: 'Name' }] },
    },
    sends: ['POST api.airtable.com/v0/app1/tbl1', { fields: { Name: 'Ada' }, typecast: false }],
  },
  'airtable record/update': {
    version: 2.1,
    parameters: {
      operation: 'update',
      base: rlc('app1'),
      table: rlc('tbl1'),
      columns: { mappingMode: 'defineBelow', value: { id: 'rec1', Name: 'Ada' }, matchingColumns: ['id'] },
    },
    sends: ['PATCH api.airtable.com/v0/app1/tbl1/rec1', { fields: { Name: 'Ada' }, typecast: false }],
  },
  'airtable record/upsert': {
    version: 2.1,
    parameters: {
      operation: 'upsert',
      base: rlc('app1'),
      table: rlc('tbl1'),
      columns: { mappingMode: 'defineBelow', value: { Name: 'Ada', Age: 36 }, matchingColumns: ['Name'] },
    },
    sends: [
      'PATCH api.airtable.com/v0/app1/tbl1',
      {
        records: [{ fields: { Name: 'Ada', Age: 36 } }],
        typecast: false,
        performUpsert: { fieldsToMergeOn: ['Name'] },
      },
    ],
    warns: ['Airtable itself looks for the record: several that match are an error.'],
  },
  'airtable record/deleteRecord': {
    version: 2.1,
    parameters: { operation: 'deleteRecord', base: rlc('app1'), table: rlc('tbl1'), id: 'rec1' },
    sends: ['DELETE api.airtable.com/v0/app1/tbl1/rec1'],
  },
  'airtable record/search': {
    version: 2.1,
    parameters: {
      operation: 'search',
      base: rlc('app1'),
      table: rlc('tbl1'),
      filterByFormula: '{A}=1',
      returnAll: false,
      limit: 3,
      sort: { property: [{ field: 'A' }] },
    },
    sends: ['GET api.airtable.com/v0/app1/tbl1?filterByFormula=%7BA%7D%3D1&maxRecords=3'],
    warns: ['These parameters have no equivalent and were left out: sort.property.'],
  },
  'discord message/send': {
    version: 2,
    parameters: { resource: 'message', guildId: rlc('1'), channelId: rlc('2'), content: 'Hello', options: {} },
    sends: ['POST discord.com/api/v10/channels/2/messages', { content: 'Hello' }],
  },
  'discord message/deleteMessage': {
    version: 2,
    parameters: { resource: 'message', operation: 'deleteMessage', channelId: rlc('2'), messageId: '3' },
    sends: ['DELETE discord.com/api/v10/channels/2/messages/3'],
  },
  'discord message/getAll': {
    version: 2,
    parameters: { resource: 'message', operation: 'getAll', channelId: rlc('2'), limit: 4 },
    sends: ['GET discord.com/api/v10/channels/2/messages?limit=4'],
  },
  'discord member/roleAdd': {
    version: 2,
    parameters: { resource: 'member', operation: 'roleAdd', guildId: rlc('1'), userId: rlc('5'), role: ['6'] },
    sends: ['PUT discord.com/api/v10/guilds/1/members/5/roles/6'],
  },
  'github issue/create': {
    parameters: {
      owner: rlc('https://github.com/ada', 'url'),
      repository: rlc('tea'),
      title: 'Cold',
      body: 'It is.',
      labels: [{ label: 'bug' }],
      assignees: [],
    },
    sends: ['POST api.github.com/repos/ada/tea/issues', { title: 'Cold', body: 'It is.', labels: ['bug'] }],
  },
  'github issue/createComment': {
    parameters: { operation: 'createComment', owner: 'ada', repository: 'tea', issueNumber: '7', body: 'Yes' },
    sends: ['POST api.github.com/repos/ada/tea/issues/7/comments', { body: 'Yes' }],
  },
  'github issue/edit': {
    parameters: {
      operation: 'edit',
      owner: 'ada',
      repository: 'tea',
      issueNumber: 7,
      editFields: { state: 'closed', labels: [{ label: 'bug' }] },
    },
    sends: ['PATCH api.github.com/repos/ada/tea/issues/7', { state: 'closed', labels: ['bug'] }],
  },
  'github issue/get': {
    parameters: { operation: 'get', owner: 'ada', repository: 'tea', issueNumber: 7 },
    sends: ['GET api.github.com/repos/ada/tea/issues/7'],
  },
  'github repository/get': {
    parameters: { resource: 'repository', operation: 'get', owner: 'ada', repository: 'tea' },
    sends: ['GET api.github.com/repos/ada/tea'],
  },
  'github repository/getIssues': {
    parameters: {
      resource: 'repository',
      owner: 'ada',
      repository: 'tea',
      getRepositoryIssuesFilters: { state: 'all' },
    },
    sends: ['GET api.github.com/repos/ada/tea/issues?state=all&per_page=50'],
  },
  'github release/create': {
    parameters: {
      resource: 'release',
      owner: 'ada',
      repository: 'tea',
      releaseTag: 'v1',
      additionalFields: { draft: true },
    },
    sends: ['POST api.github.com/repos/ada/tea/releases', { tag_name: 'v1', draft: true }],
  },
  'gitlab issue/create': {
    parameters: {
      owner: 'ada',
      repository: 'tea',
      title: 'Cold',
      body: 'It is.',
      labels: [{ label: 'a' }, { label: 'b' }],
    },
    sends: [
      'POST gitlab.com/api/v4/projects/ada%2Ftea/issues',
      { title: 'Cold', description: 'It is.', labels: 'a,b' },
    ],
  },
  'gitlab issue/createComment': {
    parameters: { operation: 'createComment', owner: 'ada', repository: 'tea', issueNumber: 7, body: 'Yes' },
    sends: ['POST gitlab.com/api/v4/projects/ada%2Ftea/issues/7/notes', { body: 'Yes' }],
  },
  'gitlab repository/get': {
    parameters: { resource: 'repository', owner: 'ada', repository: 'tea' },
    sends: ['GET gitlab.com/api/v4/projects/ada%2Ftea'],
  },
  'trello card/create': {
    parameters: { listId: 'L', name: 'Tea', description: 'Hot', additionalFields: { pos: 'top' } },
    sends: ['POST api.trello.com/1/cards?idList=L&name=Tea&desc=Hot&pos=top'],
  },
  'trello card/get': {
    parameters: { operation: 'get', id: rlc('https://trello.com/c/abc/7', 'url'), additionalFields: {} },
    sends: ['GET api.trello.com/1/cards/abc'],
  },
  'trello card/update': {
    parameters: { operation: 'update', id: rlc('abc'), updateFields: { closed: true } },
    sends: ['PUT api.trello.com/1/cards/abc?closed=true'],
  },
  'trello card/delete': {
    parameters: { operation: 'delete', id: rlc('abc') },
    sends: ['DELETE api.trello.com/1/cards/abc'],
  },
  'trello cardComment/create': {
    parameters: { resource: 'cardComment', cardId: rlc('abc'), text: 'Yes' },
    sends: ['POST api.trello.com/1/cards/abc/actions/comments?text=Yes'],
  },
  'todoist task/create': {
    version: 2,
    parameters: {
      project: rlc('1', 'list'),
      content: 'Tea',
      labels: ['hot'],
      options: { dueString: 'today', priority: '4' },
    },
    sends: [
      'POST api.todoist.com/api/v1/tasks',
      { content: 'Tea', project_id: '1', priority: 4, labels: ['hot'], due_string: 'today' },
    ],
    warns: ['The task has the fields of the newer interface of Todoist.'],
  },
  'todoist task/close': {
    version: 2,
    parameters: { operation: 'close', taskId: '9' },
    sends: ['POST api.todoist.com/api/v1/tasks/9/close'],
  },
  'asana task/create': {
    parameters: { workspace: 'W', name: 'Tea', otherProperties: { notes: 'Hot' } },
    sends: ['POST app.asana.com/api/1.0/tasks', { data: { name: 'Tea', workspace: 'W', notes: 'Hot' } }],
  },
  'asana task/get': {
    parameters: { operation: 'get', id: '9' },
    sends: ['GET app.asana.com/api/1.0/tasks/9'],
  },
  'asana task/delete': {
    parameters: { operation: 'delete', id: '9' },
    sends: ['DELETE app.asana.com/api/1.0/tasks/9'],
  },
  'clickUp task/create': {
    parameters: {
      team: 'T',
      space: 'S',
      folderless: true,
      list: '5',
      name: 'Tea',
      additionalFields: { content: 'Hot' },
    },
    sends: ['POST api.clickup.com/api/v2/list/5/task', { name: 'Tea', description: 'Hot' }],
  },
  'clickUp task/get': {
    parameters: { operation: 'get', id: '9' },
    sends: ['GET api.clickup.com/api/v2/task/9'],
  },
  'jira issue/create': {
    parameters: {
      project: rlc('10', 'list'),
      issueType: rlc('20', 'list'),
      summary: 'Cold',
      additionalFields: { description: 'It is.', priority: rlc('3', 'list') },
    },
    sends: [
      'POST api.atlassian.com/ex/jira/site/rest/api/3/issue',
      {
        fields: {
          summary: 'Cold',
          project: { id: '10' },
          issuetype: { id: '20' },
          priority: { id: '3' },
          description: {
            type: 'doc',
            version: 1,
            content: [{ type: 'paragraph', content: [{ type: 'text', text: 'It is.' }] }],
          },
        },
      },
    ],
    warns: [SITE],
    missing: ['cloudId'],
  },
  'jira issue/get': {
    parameters: { operation: 'get', issueKey: 'T-1', additionalFields: {} },
    sends: ['GET api.atlassian.com/ex/jira/site/rest/api/3/issue/T-1'],
    warns: [SITE, 'Descriptions and comments are documents here, and not texts.'],
    missing: ['cloudId'],
  },
  'jira issueComment/add': {
    parameters: { resource: 'issueComment', issueKey: 'T-1', comment: 'Yes' },
    sends: [
      'POST api.atlassian.com/ex/jira/site/rest/api/3/issue/T-1/comment',
      {
        body: { type: 'doc', version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Yes' }] }] },
      },
    ],
    warns: [SITE],
    missing: ['cloudId'],
  },
  'microsoftOutlook message/send': {
    version: 2,
    parameters: { toRecipients: 'a@e.com, b@e.com', subject: 'Tea', bodyContent: 'Now', additionalFields: {} },
    sends: [
      'POST graph.microsoft.com/v1.0/me/sendMail',
      {
        message: {
          subject: 'Tea',
          body: { content: 'Now' },
          toRecipients: [{ emailAddress: { address: 'a@e.com' } }, { emailAddress: { address: 'b@e.com' } }],
        },
        saveToSentItems: true,
      },
    ],
  },
  'microsoftOutlook message/move': {
    version: 2,
    parameters: { operation: 'move', messageId: rlc('m'), folderId: rlc('f') },
    sends: ['POST graph.microsoft.com/v1.0/me/messages/m/move', { destinationId: 'f' }],
  },
  'microsoftOutlook message/update': {
    version: 2,
    parameters: { operation: 'update', messageId: rlc('m'), updateFields: { isRead: true, categories: ['c'] } },
    sends: ['PATCH graph.microsoft.com/v1.0/me/messages/m', { isRead: true, categories: ['c'] }],
  },
  'sendGrid mail/send': {
    parameters: {
      resource: 'mail',
      fromEmail: 'tea@e.com',
      fromName: 'Tea',
      toEmail: 'a@e.com,b@e.com',
      subject: 'Tea',
      contentValue: 'Now',
    },
    sends: [
      'POST api.sendgrid.com/v3/mail/send',
      {
        personalizations: [{ to: [{ email: 'a@e.com' }, { email: 'b@e.com' }] }],
        from: { email: 'tea@e.com', name: 'Tea' },
        subject: 'Tea',
        content: [{ type: 'text/plain', value: 'Now' }],
      },
    ],
    warns: ['n8n puts out the id of the message, which stands in the headers of the answer.'],
  },
  'twilio sms/send': {
    parameters: { from: '+1', to: '+2', message: 'Tea' },
    sends: ['POST api.twilio.com/2010-04-01/Accounts/site/Messages.json', 'To=%2B2&From=%2B1&Body=Tea'],
    warns: ['Fill in "AccountSid", which n8n takes from its credentials.'],
    missing: ['AccountSid'],
  },
  'notion databasePage/getAll': {
    version: 2.2,
    parameters: {
      resource: 'databasePage',
      operation: 'getAll',
      databaseId: rlc('https://www.notion.so/ada/0123456789abcdef0123456789abcdef?v=1', 'url'),
      simple: false,
      filterType: 'json',
      filterJson: '{"property": "Done", "checkbox": {"equals": true}}',
    },
    sends: [
      'POST api.notion.com/v1/databases/0123456789abcdef0123456789abcdef/query',
      { filter: { property: 'Done', checkbox: { equals: true } }, page_size: 50 },
    ],
  },
  'notion databasePage/get': {
    version: 2.2,
    parameters: { resource: 'databasePage', operation: 'get', pageId: rlc('p'), simple: false },
    sends: ['GET api.notion.com/v1/pages/p'],
  },
  'notion database/get': {
    version: 2.2,
    parameters: { resource: 'database', databaseId: rlc('d') },
    sends: ['GET api.notion.com/v1/databases/d'],
    warns: ['n8n simplifies pages. Here they come as Notion gives them.'],
  },
  'notion page/archive': {
    version: 2.2,
    parameters: { operation: 'archive', pageId: rlc('p'), simple: false },
    sends: ['PATCH api.notion.com/v1/pages/p', { archived: true }],
  },
};

interface HttpNode {
  action: { service: string; id: string };
  values: JsonObject;
}

function translate(type: string, { version = 1, parameters }: Pick<Sample, 'version' | 'parameters'>) {
  const node = (name: string, ofType: string, more: JsonObject = {}): JsonObject => ({
    id: name.toLowerCase(),
    name,
    type: `n8n-nodes-base.${ofType}`,
    typeVersion: version,
    position: [0, 0],
    parameters: {},
    ...more,
  });
  const { drawing, warnings } = translateN8n({
    nodes: [node('Start', 'manualTrigger'), node('Node', type, { parameters, credentials: { any: { id: '1' } } })],
    connections: { Start: { main: [[{ node: 'Node', type: 'main', index: 0 }]] } },
    settings: { executionOrder: 'v1' },
  });
  const nodes = drawing['nodes'] as { type: string; data: JsonObject & { label: string } }[];
  const requests = nodes.filter((each) => each.type === 'http-node').map(({ data }) => data as unknown as HttpNode);
  return { requests, nodes, warnings };
}

describe('service nodes of n8n', function () {
  this.timeout(120_000);

  it('have a sample of each operation', () => {
    const known = Object.entries(services).flatMap(([type, { operations }]) =>
      Object.keys(operations).map((name) => `${type.replace('n8n-nodes-base.', '')} ${name}`),
    );
    assert.deepEqual(Object.keys(samples).toSorted(), known.toSorted());
  });

  for (const [name, { sends, warns = [], missing = [], ...sample }] of Object.entries(samples)) {
    it(`${name} sends what n8n sends, and says what differs`, () => {
      const { requests, nodes, warnings } = translate(name.split(' ')[0]!, sample);
      const request = requests.at(-1);
      assert.ok(request !== undefined, JSON.stringify(warnings));
      const action = findCatalogueAction(request.action.service, request.action.id);
      assert.ok(action !== undefined, request.action.id);
      const facts = toFacts(action);
      const errors = valueErrors(facts, request.values);
      assert.deepEqual(errors, Object.fromEntries(missing.map((field) => [field, 'Field required'])));
      const filledIn = { ...request.values, ...Object.fromEntries(missing.map((field) => [field, 'site'])) };
      const { method, url, body } = renderAction(facts, filledIn, facts.server.replace(/\{[^}]*\}/, 'site'));
      const idOf = (label: string): string => String(nodes.find(({ data }) => data.label === label)?.data['id']);
      const [expected, expectedBody] = JSON.parse(
        JSON.stringify(sends)
          .replaceAll('{{ node-message.', `{{ ${idOf('Node (message)')}.`)
          .replaceAll('{{ node-row.', `{{ ${idOf('Node (row)')}.`),
      ) as [string, unknown];
      assert.equal(`${method} ${url.replace('https://', '')}`, expected);
      const sent = typeof body === 'string' && body.startsWith('{') ? (JSON.parse(body) as unknown) : body;
      assert.deepEqual(sent, expectedBody);
      const asking = warnings.find(({ message }) => /^Choose the connection to [^"]+: credentials/.test(message));
      assert.deepEqual(asking?.fix, { field: 'connection' });
      const told = warnings.filter((each) => each !== asking).map(({ message }) => message);
      assert.deepEqual(told.toSorted(), [...warns].toSorted());
    });
  }

  it('are translated or left out, whatever their parameters are', () => {
    const odd = [null, 5, '=', '={{ $json.a }}', [null], { mode: 'url', value: 7 }, { values: 'x' }];
    for (const [name, { parameters, version = 1 }] of Object.entries(samples)) {
      for (const key of Object.keys(parameters)) {
        for (const value of odd) {
          const { nodes, warnings } = translate(name.split(' ')[0]!, {
            version,
            parameters: { ...parameters, [key]: value },
          });
          const isLeftOut = warnings.some(({ message }) => /^n8n-nodes-base\.\w+ was left out: .+\.$/.test(message));
          // The first node is the start.
          assert.equal(nodes.length > 1, !isLeftOut, `${name}: ${key} ${JSON.stringify([value, warnings])}`);
        }
      }
    }
  });

  it('are left out, with the reason, where the operation is not known', () => {
    const reasonOf = (type: string, parameters: JsonObject, version = 1): string =>
      translate(type, { parameters, version })
        .warnings.map(({ message }) => message)
        .join();
    assert.match(reasonOf('telegram', { operation: 'sendVideo' }), /its operation "sendVideo" of "message" has no equ/);
    assert.match(reasonOf('slack', {}, 1), /its version 1 has other parameters/);
    assert.match(reasonOf('telegram', { operation: '=x' }), /operation is known only when it runs/);
    assert.match(reasonOf('telegram', { operation: 'sendPhoto', binaryData: true }), /it sends a file of an item/);
    assert.match(reasonOf('googleSheets', { sheetName: rlc('7', 'id') }, 4.5), /does not say its name/);
    const chosen = rlc('={{ $json.sheet }}', 'id', { cachedResultName: 'Old' });
    assert.match(reasonOf('googleSheets', { ...ROW, sheetName: chosen }, 4.5), /its sheet is known only when it runs/);
    const address = rlc('={{ $json.the_address_of_the_document }}', 'url');
    assert.match(
      reasonOf('googleSheets', { ...ROW, documentId: address }, 4.5),
      /documentId is an address that is known only when it runs/,
    );
  });
});

describe('service nodes of n8n that need more than a request', function () {
  this.timeout(60_000);

  const decoded = (raw: unknown): string => Buffer.from(String(raw), 'base64url').toString('utf8');
  const manyItems = (list: readonly JsonObject[]) => ({
    type: 'code',
    version: 2,
    parameters: { jsCode: `return ${JSON.stringify(list)};` },
  });

  it('write a mail for each item, with letters of any language, and no header of anybody else', async () => {
    const raws: string[] = [];
    const { caught } = await playNodes(
      {
        Items: manyItems([
          { to: 'Zoë <zoe@e.com>', text: 'Grüße 🍵' },
          { to: 'a@e.com', text: 'x\r\nBcc: all@e.com' },
        ]),
        Mail: {
          type: 'gmail',
          version: 2.1,
          parameters: {
            sendTo: '={{ $json.to }}',
            subject: '={{ $json.text }}',
            message: '=<b>{{ $json.text }}</b>',
            options: { bccList: 'c@e.com, d@e.com' },
          },
        },
      },
      (_, sent) => {
        raws.push(decoded((sent['values'] as JsonObject)['raw']));
        return { id: 'm' };
      },
    );
    assert.deepEqual(caught, []);
    const [first = '', second = ''] = raws;
    assert.match(first, /^To: =\?UTF-8\?B\?Wm/);
    assert.match(first, /\r\nBcc: c@e\.com, d@e\.com\r\n/);
    const [, word = ''] = /\r\nSubject: =\?UTF-8\?B\?([^?]*)\?=\r\n/.exec(first) ?? [];
    assert.equal(Buffer.from(word, 'base64').toString(), 'Grüße 🍵');
    assert.equal(Buffer.from(first.split('\r\n\r\n')[1]!, 'base64').toString(), '<b>Grüße 🍵</b>');
    assert.match(second, /\r\nSubject: x Bcc: all@e\.com\r\n/);
    assert.equal(second.match(/^Bcc: /gm)?.length, 1);
  });

  it('read rows of a sheet as n8n does, and look them up', async () => {
    const values = [[], ['Name', '', 'Age'], ['Ada', '', 36], [], ['Bob', '', 40, 'more']];
    const read = async (parameters: JsonObject, version = 4.5): Promise<unknown> => {
      const { of } = await playNodes(
        { Rows: { type: 'googleSheets', version, parameters: { ...ROW, ...parameters } } },
        () => ({ values }),
      );
      return of('Rows');
    };
    const ada = { row_number: 3, Name: 'Ada', Age: 36, col_3: '' };
    const bob = { row_number: 5, Name: 'Bob', Age: 40, col_3: 'more' };
    assert.deepEqual(await read({}), [ada, bob]);
    assert.deepEqual(await read({ filtersUI: { values: [{ lookupColumn: 'Age', lookupValue: '40' }] } }), [bob]);
    const both = [
      { lookupColumn: 'Age', lookupValue: '40' },
      { lookupColumn: 'Name', lookupValue: 'Ada' },
    ];
    const filtersUI = { values: both };
    assert.deepEqual(await read({ filtersUI }), []);
    assert.deepEqual(await read({ filtersUI, combineFilters: 'OR' }), [bob, ada]);
    assert.deepEqual(await read({ filtersUI }, 4.2), [bob, ada]);
  });

  it('cut the labels of Gmail to the number that the file says, also where an expression says it', async () => {
    const labels = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    const list = async (more: JsonObject): Promise<unknown> => {
      const parameters = { resource: 'label', operation: 'getAll', ...more };
      const { of } = await playNodes({ Labels: { type: 'gmail', version: 2.1, parameters } }, () => ({ labels }));
      return of('Labels');
    };
    assert.deepEqual(await list({ limit: 1 }), labels.slice(0, 1));
    assert.deepEqual(await list({ limit: '={{ 1 + 1 }}' }), labels.slice(0, 2));
    assert.deepEqual(await list({ limit: '={{ 1 + 1 }}', returnAll: true }), labels);
  });

  it('list the events of the next week, each date of its own, if the file names no times', async () => {
    const sent: JsonObject[] = [];
    const list = async (more: JsonObject): Promise<string[]> => {
      const parameters = { operation: 'getAll', calendar: rlc('c'), ...more };
      const { warnings, caught } = await playNodes(
        { Events: { type: 'googleCalendar', version: 1.3, parameters } },
        (_, { values }) => {
          sent.push(values as JsonObject);
          return { items: [] };
        },
      );
      assert.deepEqual(caught, []);
      return warnings.map(({ message }) => message).filter((message) => !message.startsWith('Choose the connection'));
    };
    assert.deepEqual(await list({}), []);
    const { timeMin, timeMax, singleEvents } = sent[0]!;
    const days = (Date.parse(String(timeMax)) - Date.parse(String(timeMin))) / 86_400_000;
    // A week in which the clocks change is an hour longer or shorter.
    assert.ok(Math.abs(days - 7) < 0.05, `${String(timeMin)} to ${String(timeMax)}`);
    assert.equal(singleEvents, true);
    const told = await list({ timeMin: '', timeMax: '', options: { recurringEventHandling: 'next' } });
    assert.deepEqual(told, ['n8n puts out the next date of events that come back, and not the events.']);
    assert.deepEqual(Object.keys(sent[1]!).toSorted(), ['calendarId', 'maxResults']);
  });

  it('append rows in the order of the columns, and refuse a field without a column', async () => {
    const appended: unknown[] = [];
    const nodes = (value: JsonObject) => ({
      Items: manyItems([{ n: 1 }, { n: 2 }]),
      Row: {
        type: 'googleSheets',
        version: 4.5,
        parameters: { operation: 'append', ...ROW, columns: { mappingMode: 'defineBelow', value } },
      },
      After: { type: 'code', version: 2, parameters: { jsCode: 'return items;' } },
    });
    const answer = (_: string, sent: JsonObject): unknown => {
      const { action, values } = sent as unknown as HttpNode;
      if (action.id.endsWith('.get')) return { values: [['Name', 'Number']] };
      appended.push(values['values']);
      return {};
    };
    const { of, caught } = await playNodes(nodes({ Number: '={{ $json.n }}', Name: 'Ada' }), answer);
    assert.deepEqual(caught, []);
    assert.deepEqual(appended, [[['Ada', 1]], [['Ada', 2]]]);
    assert.deepEqual(of('After'), [
      { Number: 1, Name: 'Ada' },
      { Number: 2, Name: 'Ada' },
    ]);
    const refused = await playNodes(nodes({ Colour: 'red' }), answer);
    assert.match(String(refused.caught[0]), /The sheet has no column for: Colour/);
    assert.equal(appended.length, 2);
  });

  it('change the row that has a value, leave other cells as they are, and append where there is none', async () => {
    const sent: unknown[] = [];
    const play = async (operation: string, value: JsonObject): Promise<unknown> => {
      const columns = { mappingMode: 'defineBelow', value, matchingColumns: ['Name'] };
      const { of, caught } = await playNodes(
        {
          Items: manyItems([{ n: 1 }]),
          Row: { type: 'googleSheets', version: 4.5, parameters: { operation, ...ROW, columns } },
          After: { type: 'code', version: 2, parameters: { jsCode: 'return items;' } },
        },
        (_, { action, values }) => {
          const { id } = action as HttpNode['action'];
          if (id.endsWith('.get'))
            return {
              values: [
                ['Name', 'Age', 'City'],
                ['Bob', 40, 'Bonn'],
                ['Ada', 36, 'Linz'],
              ],
            };
          const { range, values: cells } = values as JsonObject;
          sent.push([id.split('.').at(-1), range, cells]);
          return {};
        },
      );
      assert.deepEqual(caught, []);
      return of('After');
    };
    assert.deepEqual(await play('update', { Name: 'Ada', Age: '={{ $json.n }}' }), [{ Name: 'Ada', Age: 1 }]);
    assert.deepEqual(await play('update', { Name: 'Eve', Age: 2 }), []);
    assert.deepEqual(await play('appendOrUpdate', { Name: 'Eve', Age: 3 }), [{ Name: 'Eve', Age: 3 }]);
    assert.deepEqual(sent, [
      ['update', "'Ada''s'!A3", [['Ada', 1, null]]],
      ['append', "'Ada''s'", [['Eve', 3, '']]],
    ]);
  });

  it('fail where Slack refuses with a status of 200, and lay the fields of records beside their id', async () => {
    const post = { type: 'slack', version: 2, parameters: { select: 'channel', channelId: rlc('C1'), text: 'Hi' } };
    const refused = await playNodes({ Post: post }, () => ({ ok: false, error: 'not_in_channel' }));
    assert.match(String(refused.caught[0]), /Slack error response: "not_in_channel"/);
    const search = { operation: 'search', base: rlc('app1'), table: rlc('tbl1') };
    const found = await playNodes({ Find: { type: 'airtable', version: 2.1, parameters: search } }, () => ({
      records: [{ id: 'rec1', createdTime: 'now', fields: { Name: 'Ada' } }],
    }));
    assert.deepEqual(found.of('Find'), [{ id: 'rec1', createdTime: 'now', Name: 'Ada' }]);
  });
});
