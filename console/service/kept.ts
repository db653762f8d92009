// Choices of a person about how pages look, such as the width of a pane, kept in the browser's `localStorage` for later
// visits. They say nothing about workflows.
import { createStore, type Store } from '../ui/store.js';
import { browserEntries } from './browser-entries.js';
import { isObject, type JsonObject } from '../../graph/json.js';

/** `read` picks the known fields of the stored object, which another version of the console may have written. */
export function createKept<State extends object>(name: string, read: (stored: JsonObject) => State): Store<State> {
  const key = `look:${name}`;
  const store = createStore(read(parse(browserEntries().getItem(key))));
  return {
    ...store,
    setState(state) {
      store.setState(state);
      try {
        browserEntries().setItem(key, JSON.stringify(state));
      } catch {
        // Storage is full: the choice lasts until the page is closed.
      }
    },
  };
}

function parse(text: string | null): JsonObject {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
