// One endpoint: what it takes, what it answers, and a form to try it. The inside is made when it is opened.
import { element, prose } from './dom.js';
import { schemaText } from './schema-text.js';
import { tryForm } from './try-it.js';

const CREDENTIALS = {
  ApiKey: 'X-Api-Key header',
  SessionToken: 'session token (JWT)',
  BearerKey: 'Authorization: Bearer, with the API key',
  InternalToken: 'internal service token',
};

export function operationView({ method, path, operation, components }) {
  const content = element('div', { class: 'content' });
  const open = () => {
    if (!view.open || content.childElementCount > 0) return;
    content.append(...parts({ method, path, operation, components }));
  };
  const view = element(
    'details',
    { class: 'operation', id: operation.operationId, toggle: open },
    element(
      'summary',
      {},
      element('span', { class: `method ${method}` }, method),
      element('span', { class: 'path' }, path),
      element('span', { class: 'text' }, ...prose(operation.summary)),
    ),
    content,
  );
  return view;
}

function parts({ method, path, operation, components }) {
  const schemes = (operation.security ?? []).flatMap((choice) => Object.keys(choice));
  const who = schemes.length === 0 ? 'no credentials' : schemes.map((name) => CREDENTIALS[name] ?? name).join(', or ');
  return [
    operation.description && element('p', {}, ...prose(operation.description)),
    element('p', { class: 'hint' }, `Asks for: ${who}.`),
    parameterTable(operation.parameters),
    ...bodyParts(operation.requestBody, components),
    element('h3', {}, 'Answers'),
    answerTable(operation.responses, components),
    tryForm({ method, path, operation, components }),
  ].filter(Boolean);
}

function parameterTable(parameters = []) {
  if (parameters.length === 0) return undefined;
  const rows = parameters.map(({ name, in: place, required, schema, description }) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, name)),
      element('td', {}, required ? `${place}, required` : place),
      element('td', {}, schemaText(schema, {})),
      element('td', {}, description ?? ''),
    ),
  );
  return element('table', {}, ...rows);
}

function bodyParts(body, components) {
  if (body === undefined) return [];
  return Object.entries(body.content).flatMap(([type, { schema }]) => [
    element('h3', {}, `Body: ${type}${body.required ? '' : ' (optional)'}`),
    element('pre', {}, schemaText(schema, components)),
  ]);
}

function answerTable(responses, components) {
  const rows = Object.entries(responses).map(([status, { description, content = {} }]) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, status)),
      element('td', {}, description, ...Object.entries(content).map((entry) => answerSchema(entry, components))),
    ),
  );
  return element('table', {}, ...rows);
}

function answerSchema([type, { schema }], components) {
  const text = schemaText(schema, components);
  return element('details', {}, element('summary', {}, type), element('pre', {}, text));
}
