// Reads the OpenAPI document and lists every endpoint by group.
import { element, prose } from './dom.js';
import { operationView } from './operation-view.js';

const contents = document.getElementById('contents');
const operations = document.getElementById('operations');

const response = await fetch('/api/v1/openapi.json');
if (response.ok) show(await response.json());
else operations.replaceChildren(element('p', {}, `The interface cannot be read: status ${response.status}.`));

function show({ tags, paths, components, info }) {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  operations.replaceChildren(element('p', { class: 'hint' }, ...prose(info.description)));
  for (const { name } of tags) {
    const group = all.filter(({ operation }) => operation.tags.includes(name));
    const views = group.map((entry) => operationView({ ...entry, components: components.schemas }));
    operations.append(element('h2', {}, name), ...views);
    contents.append(element('section', {}, element('h2', {}, name), ...group.map(contentsLine)));
  }
  document.getElementById('filter').addEventListener('input', ({ target }) => filter(target.value.toLowerCase()));
  openByHash();
  addEventListener('hashchange', openByHash);
}

function contentsLine({ method, path, operation }) {
  const short = path.replace('/api/v1', '');
  const name = element('span', { class: `method ${method}` }, method);
  return element('a', { href: `#${operation.operationId}`, title: operation.summary }, name, ` ${short}`);
}

function openByHash() {
  const view = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (view?.tagName !== 'DETAILS') return;
  view.open = true;
  view.scrollIntoView();
}

function filter(words) {
  for (const line of contents.querySelectorAll('a')) {
    line.hidden = !`${line.textContent} ${line.title}`.toLowerCase().includes(words);
  }
}
