// The state of a field for files: uploading, uploaded and failed files.
import { ServiceError } from '../service/api.js';
import { explain } from '../service/explain.js';
import { uploadFile } from '../service/upload.js';
import { createLimit } from '../service/pace.js';
import { announce } from '../ui/notices.js';
import { createStore, type Stored } from '../ui/store.js';
import type { FileValue } from '../service/file-value.js';

export interface Chosen {
  key: string;
  name: string;
  /** The size in bytes. */
  size: number;
  /** Uploaded fraction, from 0 to 1. */
  sent: number;
  /** Set when the upload is complete. */
  value?: FileValue;
  problem?: string;
}

export interface Uploads extends Stored<readonly Chosen[]> {
  /** Uploads the files. If the field accepts one file, the last file replaces the current one. */
  choose: (files: Iterable<File>) => void;
  remove: (key: string) => void;
  retry: (key: string) => void;
  /** Aborts running uploads and removes files that are not uploaded. */
  abort: () => void;
}

/** Limit of concurrent uploads of the whole page. */
const limit = createLimit(3);
let count = 0;

interface UploadsOptions {
  projectId: number;
  initial: readonly FileValue[];
  isMany: boolean;
}

export function createUploads({ projectId, initial, isMany }: UploadsOptions): Uploads {
  const store = createStore<readonly Chosen[]>(initial.map(toChosen));
  const sending = new Map<string, { file: File; stop: AbortController }>();
  const change = (key: string, facts: Partial<Chosen>): void => {
    store.setState(store.getState().map((item) => (item.key === key ? { ...item, ...facts } : item)));
  };
  const remove = (key: string): void => {
    sending.get(key)?.stop.abort();
    sending.delete(key);
    store.setState(store.getState().filter((item) => item.key !== key));
  };
  const add = (items: readonly Chosen[]): void => {
    if (items.length === 0) return;
    if (!isMany) for (const { key } of store.getState()) remove(key);
    store.setState([...store.getState(), ...items]);
  };
  const send = async (key: string): Promise<void> => {
    const { file, stop } = sending.get(key)!;
    const { signal } = stop;
    const onProgress = (sent: number): void => change(key, { sent });
    try {
      const value = await limit(() => uploadFile({ projectId, file, signal, onProgress }), signal);
      change(key, { value });
      announce(`${file.name} is uploaded.`);
    } catch (error) {
      if (!signal.aborted) change(key, { problem: sentenceOf(error) });
    }
  };
  return {
    getState: store.getState,
    subscribe: store.subscribe,
    choose(files) {
      const chosen = isMany ? [...files] : [...files].slice(-1);
      const items = chosen.map((file) => {
        const item = { key: nextKey(), name: file.name, size: file.size, sent: 0 };
        return { item, file };
      });
      add(items.map(({ item }) => item));
      for (const { item, file } of items) {
        sending.set(item.key, { file, stop: new AbortController() });
        void send(item.key);
      }
    },
    remove,
    retry(key) {
      store.setState(
        store.getState().map((item) => {
          const { problem: _, ...rest } = item;
          return item.key === key ? { ...rest, sent: 0 } : item;
        }),
      );
      void send(key);
    },
    abort() {
      for (const { stop } of sending.values()) stop.abort();
      sending.clear();
      const arrived = store.getState().filter(({ value }) => value !== undefined);
      if (arrived.length < store.getState().length) store.setState(arrived);
    },
  };
}

function toChosen(value: FileValue): Chosen {
  return { key: nextKey(), name: value.name, size: value.size, sent: 1, value };
}

function nextKey(): string {
  count += 1;
  return String(count);
}

function sentenceOf(error: unknown): string {
  const code = error instanceof ServiceError ? error.code : '';
  if (code === 'quota_exceeded')
    return 'The project has no room for it: delete files or results that you no longer need.';
  if (code === 'body_too_large') return 'It is larger than a file may be.';
  return explain(error);
}
