// The form that sends one request, and what came back.
import { element } from './dom.js';
import { sampleOf } from './schema-text.js';

const MAX_SHOWN_CHARACTERS = 200_000;

export function tryForm({ method, path, operation, components }) {
  const fields = (operation.parameters ?? []).map(toField);
  const body = bodyField(operation, components);
  const outcome = element('div', { class: 'outcome', 'aria-live': 'polite' });
  const send = async (event) => {
    event.preventDefault();
    outcome.replaceChildren(element('p', { class: 'hint' }, 'Waiting for the answer...'));
    outcome.replaceChildren(...(await answerTo(toRequest({ method, path, operation, fields, body }))));
  };
  return element(
    'form',
    { class: 'try', submit: (event) => void send(event) },
    element('h3', {}, 'Try it'),
    ...fields.map(({ row }) => row),
    body?.row,
    element('button', { type: 'submit' }, 'Send'),
    outcome,
  );
}

function toField({ name, in: place, required, schema }) {
  const input = element('input', { name, required, placeholder: [schema?.type ?? ''].flat().join(' | ') });
  return { name, place, input, row: element('label', {}, `${name} (${place})`, input) };
}

function bodyField(operation, components) {
  const json = operation.requestBody?.content?.['application/json'];
  if (json === undefined) return undefined;
  const input = element('textarea', { rows: 7, name: 'body', spellcheck: 'false' });
  input.value = JSON.stringify(sampleOf(json.schema, components), undefined, 2);
  return { input, row: element('label', {}, 'body', input) };
}

function toRequest({ method, path, operation, fields, body }) {
  const given = fields
    .map(({ name, place, input }) => ({ name, place, value: input.value }))
    .filter((f) => f.value !== '');
  const query = new URLSearchParams();
  const headers = credentials(operation);
  let url = path;
  for (const { name, place, value } of given) {
    if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query') query.append(name, value);
    else headers[name] = value;
  }
  if (query.size > 0) url += `?${query}`;
  if (body === undefined) return { url, method, headers };
  return { url, method, headers: { ...headers, 'Content-Type': 'application/json' }, body: body.input.value };
}

/** The same key goes where the endpoint looks for it. */
function credentials({ security = [] }) {
  const key = document.getElementById('api-key').value.trim();
  const schemes = security.flatMap((choice) => Object.keys(choice));
  if (key === '' || schemes.length === 0) return {};
  return schemes.includes('ApiKey') ? { 'X-Api-Key': key } : { Authorization: `Bearer ${key}` };
}

async function answerTo({ url, ...request }) {
  const startedAt = performance.now();
  try {
    const response = await fetch(url, { ...request, credentials: 'omit', redirect: 'manual' });
    const text = await response.text();
    const durationMs = Math.round(performance.now() - startedAt);
    return [
      element('h3', { class: 'status' }, `${response.status} ${response.statusText} in ${durationMs} ms`),
      element('p', { class: 'hint' }, `${request.method} ${url}`),
      element('pre', { class: 'answer' }, pretty(text) || '(no body)'),
      element('pre', {}, [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')),
    ];
  } catch (error) {
    return [element('p', { class: 'status' }, `The request did not get through: ${error.message}`)];
  }
}

function pretty(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    // No JSON: shown as it is.
  }
  return shown.length > MAX_SHOWN_CHARACTERS ? `${shown.slice(0, MAX_SHOWN_CHARACTERS)}\n... (cut here)` : shown;
}
