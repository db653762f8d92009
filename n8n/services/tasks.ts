// The operations of n8n's nodes for tasks and cards, and the actions that they become: Trello, Todoist, Asana, ClickUp
// and Jira.
import type { JsonObject } from '../../graph/json.js';
import { NotTranslatable } from '../node-translation.js';
import { filled, type Given } from './given.js';
import type { Service } from './operation.js';

const CARD = /trello\.com\/c\/([a-zA-Z0-9]{2,})/;
const OF_CARD = { due: 'due', pos: 'pos', idMembers: 'idMembers', idLabels: 'idLabels' };

export const trello: Service = {
  id: 'trello',
  name: 'Trello',
  resource: 'card',
  byDefault: { card: 'create', cardComment: 'create', list: 'create', board: 'create' },
  operations: {
    'card/create': {
      action: 'create_card',
      values: (given) => ({
        idList: given.text('listId'),
        name: given.text('name'),
        desc: given.text('description'),
        ...given.fields('additionalFields', { ...OF_CARD, urlSource: 'urlSource' }),
      }),
    },
    'card/get': {
      action: 'get_card',
      values: (given) => ({
        id: given.id('id', CARD),
        ...given.fields('additionalFields', { fields: 'fields', members: 'members' }),
      }),
    },
    'card/update': {
      action: 'update_card',
      values: (given) => ({
        id: given.id('id', CARD),
        ...given.fields('updateFields', {
          name: 'name',
          desc: 'desc',
          closed: 'closed',
          idList: 'idList',
          due: 'due',
          dueComplete: 'dueComplete',
          pos: 'pos',
        }),
      }),
    },
    'card/delete': { action: 'delete_card', values: (given) => ({ id: given.id('id', CARD) }) },
    'cardComment/create': {
      action: 'add_comment',
      values: (given) => ({ id: given.id('cardId', CARD), text: given.text('text') }),
    },
  },
};

export const todoist: Service = {
  id: 'todoist',
  name: 'Todoist',
  since: 2,
  resource: 'task',
  byDefault: { task: 'create' },
  operations: {
    'task/create': {
      action: 'create_task',
      values: (given) =>
        filled({
          content: given.text('content'),
          project_id: given.id('project'),
          priority: given.number('options.priority') ?? 1,
          labels: given.value('labels'),
          ...given.fields('options', {
            description: 'description',
            dueString: 'due_string',
            section: 'section_id',
          }),
        }),
      differs: () => ['The task has the fields of the newer interface of Todoist.'],
    },
    'task/close': {
      action: 'close_task',
      values: (given) => ({ task_id: given.text('taskId') }),
      gives: () => ({ success: true }),
    },
  },
};

export const asana: Service = {
  id: 'asana',
  name: 'Asana',
  resource: 'task',
  byDefault: { task: 'create' },
  operations: {
    'task/create': {
      action: 'createTask',
      items: 'data',
      values: (given) => ({
        data: {
          name: given.text('name'),
          workspace: given.text('workspace'),
          ...given.fields('otherProperties', {
            assignee: 'assignee',
            completed: 'completed',
            due_on: 'due_on',
            notes: 'notes',
            projects: 'projects',
          }),
        },
      }),
    },
    'task/get': { action: 'getTask', items: 'data', values: (given) => ({ task_gid: given.text('id') }) },
    'task/delete': { action: 'deleteTask', items: 'data', values: (given) => ({ task_gid: given.text('id') }) },
  },
};

export const clickUp: Service = {
  id: 'clickup',
  name: 'ClickUp',
  resource: 'task',
  byDefault: { task: 'create' },
  operations: {
    'task/create': {
      action: 'createtask',
      values: (given) => {
        // n8n's editor needs these to show the lists. Reading them here prevents a warning about them.
        for (const name of ['team', 'space', 'folderless', 'folder']) given.raw(name);
        return {
          list_id: given.text('list'),
          name: given.text('name'),
          ...given.fields('additionalFields', {
            content: 'description',
            assignees: 'assignees',
            tags: 'tags',
            status: 'status',
            priority: 'priority',
          }),
        };
      },
    },
    'task/get': { action: 'gettask', values: (given) => ({ task_id: given.text('id') }) },
  },
};

/** Returns a text in the document format of Jira's editor. */
function toDocument(text: string): JsonObject {
  return { type: 'doc', version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] };
}

const SITE = 'Fill in "cloudId", the site of Jira, which n8n takes from its credentials.';

function onCloud(given: Given): void {
  if (given.word('jiraVersion', 'cloud') !== 'cloud') throw new NotTranslatable('its Jira is not the one in the cloud');
}

export const jira: Service = {
  id: 'jira',
  name: 'Jira',
  resource: 'issue',
  byDefault: { issue: 'create', issueComment: 'add' },
  operations: {
    'issue/create': {
      action: 'createIssue',
      values: (given) => {
        onCloud(given);
        const description = given.text('additionalFields.description');
        const named = (path: string): JsonObject | undefined => {
          const id = given.id(path);
          return id === '' ? undefined : { id };
        };
        const fields = filled({
          summary: given.text('summary'),
          project: { id: given.id('project') },
          issuetype: { id: given.id('issueType') },
          labels: given.value('additionalFields.labels'),
          priority: named('additionalFields.priority'),
          assignee: named('additionalFields.assignee'),
          reporter: named('additionalFields.reporter'),
          description: description === '' ? undefined : toDocument(description),
        });
        return { cloudId: '', fields };
      },
      differs: () => [SITE],
    },
    'issue/get': {
      action: 'getIssue',
      values: (given) => {
        onCloud(given);
        return {
          cloudId: '',
          issueIdOrKey: given.text('issueKey'),
          ...given.fields('additionalFields', { expand: 'expand' }),
        };
      },
      differs: (given) => [
        SITE,
        'Descriptions and comments are documents here, and not texts.',
        given.raw('simplifyOutput') === true && 'The issue comes as Jira gives it.',
      ],
    },
    'issueComment/add': {
      action: 'addComment',
      values: (given) => {
        onCloud(given);
        if (given.raw('jsonParameters') === true || given.raw('options.wikiMarkup') === true)
          throw new NotTranslatable('its comment is no plain text');
        return { cloudId: '', issueIdOrKey: given.text('issueKey'), body: toDocument(given.text('comment')) };
      },
      differs: () => [SITE],
    },
  },
};
