// The operations of n8n's GitHub and GitLab nodes, and the actions that they become.
import type { JsonObject } from '../../graph/json.js';
import { filled, type Given } from './given.js';
import type { Service } from './operation.js';

function repository(given: Given): JsonObject {
  return {
    owner: given.id('owner', /github\.com\/([-\w]+)/),
    repo: given.id('repository', /github\.com\/[-\w]+\/([-.\w]+)/),
  };
}

function issue(given: Given): JsonObject {
  return { ...repository(given), issue_number: given.number('issueNumber') ?? '' };
}

const OF_ISSUE = { title: 'title', body: 'body', state: 'state' };

export const github: Service = {
  id: 'github',
  name: 'GitHub',
  resource: 'issue',
  byDefault: { issue: 'create', repository: 'getIssues', release: 'create', file: 'create', workflow: 'dispatch' },
  operations: {
    'issue/create': {
      action: 'issues.create',
      values: (given) =>
        filled({
          ...repository(given),
          title: given.text('title'),
          body: given.text('body'),
          labels: given.each('labels', 'label'),
          assignees: given.each('assignees', 'assignee'),
        }),
    },
    'issue/createComment': {
      action: 'issues.create-comment',
      values: (given) => ({ ...issue(given), body: given.text('body') }),
    },
    'issue/edit': {
      action: 'issues.update',
      values: (given) =>
        filled({
          ...issue(given),
          ...given.fields('editFields', OF_ISSUE),
          labels: given.each('editFields.labels', 'label'),
          assignees: given.each('editFields.assignees', 'assignee'),
        }),
    },
    'issue/get': { action: 'issues.get', values: issue },
    'repository/get': { action: 'repos.get', values: repository },
    'repository/getIssues': {
      action: 'issues.list-for-repo',
      values: (given) => ({
        ...repository(given),
        ...given.fields('getRepositoryIssuesFilters', {
          assignee: 'assignee',
          labels: 'labels',
          since: 'since',
          state: 'state',
          sort: 'sort',
          direction: 'direction',
        }),
        per_page: given.raw('returnAll') === true ? 100 : (given.number('limit') ?? 50),
      }),
      differs: (given) => [given.raw('returnAll') === true && 'Here come the first 100 issues, and not all.'],
    },
    'release/create': {
      action: 'repos.create-release',
      values: (given) => ({
        ...repository(given),
        tag_name: given.text('releaseTag'),
        ...given.fields('additionalFields', {
          name: 'name',
          body: 'body',
          draft: 'draft',
          prerelease: 'prerelease',
          target_commitish: 'target_commitish',
        }),
      }),
    },
  },
};

function project(given: Given): JsonObject {
  return { id: `${given.text('owner')}/${given.text('repository')}` };
}

export const gitlab: Service = {
  id: 'gitlab',
  name: 'GitLab',
  resource: 'issue',
  byDefault: { issue: 'create', repository: 'get' },
  operations: {
    'issue/create': {
      action: 'create_issue',
      values: (given) =>
        filled({
          ...project(given),
          title: given.text('title'),
          description: given.text('body'),
          due_date: given.text('due_date'),
          labels: given.each('labels', 'label')?.join(','),
          assignee_ids: given.each('assignee_ids', 'assignee'),
        }),
    },
    'issue/createComment': {
      action: 'create_issue_note',
      values: (given) => ({
        ...project(given),
        issue_iid: given.number('issueNumber') ?? '',
        body: given.text('body'),
      }),
    },
    'repository/get': { action: 'get_project', values: project },
  },
};
