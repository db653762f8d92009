// Loads the messages of a conversation from its end, and groups them into exchanges. The service lists
// the oldest first.
import type { components } from '../../../clients/typescript/src/index.js';
import type { FileValue } from '../../service/file-value.js';

export type Message = components['schemas']['Message'];

export const PAGE_SIZE = 50;
/** Minimum of messages to load at first, if the conversation has as many. */
const FEWEST = 20;

/** Loaded pages by number, without gaps. */
export interface Loaded {
  pages: ReadonlyMap<number, readonly Message[]>;
  total: number;
}

type ReadPage = (page: number) => Promise<{ items: readonly Message[]; total: number }>;

/**
 * Later pages are not requested, whatever total the service reports. A conversation has at most 10,000 messages of
 * people, each with an answer.
 */
export const MOST_PAGES = (2 * 10_000) / PAGE_SIZE;

function lastPage(total: number): number {
  return Math.min(MOST_PAGES, Math.max(1, Math.ceil(total / PAGE_SIZE)));
}

export function firstLoaded({ pages }: Loaded): number {
  return Math.min(...pages.keys());
}

/** Loads new messages, and reloads known ones that may have changed. */
export async function readNewest(known: Loaded | undefined, read: ReadPage): Promise<Loaded> {
  const pages = new Map(known?.pages);
  let page = known === undefined ? 1 : firstToRead(known);
  let { items, total } = await read(page);
  if (known === undefined && total > PAGE_SIZE) {
    page = lastPage(total);
    ({ items, total } = await read(page));
    if (items.length < FEWEST) pages.set(page - 1, (await read(page - 1)).items);
  }
  pages.set(page, items);
  while (page < lastPage(total)) {
    page += 1;
    ({ items, total } = await read(page));
    pages.set(page, items);
  }
  return { pages, total };
}

/**
 * Returns the first page to reload. Answers are appended at the end, but the status of an unanswered message may change
 * on any page.
 */
function firstToRead({ pages, total }: Loaded): number {
  const answered = new Set(
    [...pages.values()].flat().flatMap((item) => (item.role === 'assistant' ? item.run_id : [])),
  );
  const open = [...pages].flatMap(([page, items]) =>
    items.some((item) => item.role === 'user' && !answered.has(item.run_id)) ? page : [],
  );
  return Math.min(lastPage(total), ...open);
}

/** Merges the pages of both. If both have a page, that of `other` is taken. */
export function together(one: Loaded | undefined, other: Loaded): Loaded {
  return { pages: new Map([...(one?.pages ?? []), ...other.pages]), total: Math.max(one?.total ?? 0, other.total) };
}

/** A message of a person with its answer. Either may be missing, but not both. */
export interface Exchange {
  runId: string;
  /** Undefined if the message is on a page that is not loaded. */
  message: Message | undefined;
  /** Undefined while the run is open. */
  answer: Message | undefined;
  /** Exchanges that this one replaced, and those that followed them, oldest first. */
  former: Exchange[];
}

/** Returns the exchanges of the current branch, oldest first, each with those that it replaced. */
export function toExchanges({ pages }: Loaded): Exchange[] {
  const byRun = new Map<string, Exchange>();
  const inOrder = [...pages].toSorted(([one], [other]) => one - other).flatMap(([, items]) => items);
  for (const item of inOrder) {
    const known = byRun.get(item.run_id) ?? { runId: item.run_id, message: undefined, answer: undefined, former: [] };
    byRun.set(item.run_id, item.role === 'user' ? { ...known, message: item } : { ...known, answer: item });
  }
  // An answer without a message belongs to a message on an earlier page.
  const all = [...byRun.values()];
  return inBranch([...all.filter(({ message }) => !message), ...all.filter(({ message }) => message)]);
}

function inBranch(exchanges: readonly Exchange[]): Exchange[] {
  const places = new Map(exchanges.flatMap(({ message }, place) => (message ? [[message.id, place] as const] : [])));
  const before: number[] = [];
  for (const [place, { message }] of exchanges.entries()) {
    const replaced = message?.replaces ?? undefined;
    if (replaced === undefined) before.push(place - 1);
    // If the replaced message is not loaded, no loaded message precedes this one in the branch.
    else before.push(before[places.get(replaced) ?? -1] ?? -1);
  }
  const branch = new Set<number>();
  for (let place = exchanges.length - 1; place >= 0; place = before[place]!) branch.add(place);
  const shown: Exchange[] = [];
  let former: Exchange[] = [];
  for (const [place, exchange] of exchanges.entries()) {
    if (branch.has(place)) {
      shown.push({ ...exchange, former });
      former = [];
    } else former.push(exchange);
  }
  return shown;
}

/** A message to ask again. */
export interface Anew {
  /** Id of the message that it replaces. */
  replaces: string;
  content: string;
  files: readonly FileValue[];
}

/** Returns undefined for a truncated message, because asking its beginning would replace the whole message. */
export function toAnew({ id, content, files, truncated }: Message): Anew | undefined {
  return truncated === true ? undefined : { replaces: id, content: content ?? '', files };
}

/** Returns the exchanges of open runs, oldest first. */
export function openOf(exchanges: readonly Exchange[]): Exchange[] {
  return exchanges
    .flatMap((exchange) => [...exchange.former, exchange])
    .filter(({ message, answer }) => answer === undefined && message !== undefined);
}

/** Limit of streamed runs, because browsers have few connections per origin. */
const MOST_FOLLOWED = 3;
const READ_AGAIN_MS = 5_000;

/**
 * Returns the ids of the open runs that are streamed, oldest first. Any of these runs may be the one that writes:
 * earlier runs may wait for a person, and later runs may be queued.
 */
export function streamedOf(exchanges: readonly Exchange[]): string[] {
  return openOf(exchanges)
    .slice(0, MOST_FOLLOWED)
    .map(({ runId }) => runId);
}

/** Returns the interval at which messages are reloaded: `false` while all open runs are streamed. */
export function readAgainEvery(loaded: Loaded | undefined): number | false {
  return loaded !== undefined && openOf(toExchanges(loaded)).length > MOST_FOLLOWED ? READ_AGAIN_MS : false;
}

/**
 * Returns the run to stop: the newest at work, else the newest that has started, else the first in the queue.
 * `liveWord` returns the live word of a run, undefined if the run is not streamed. The status of a message may be older
 * than that word, and is `in progress` even while the run waits for a person.
 */
export function runToStop(
  open: readonly Exchange[],
  liveWord: (runId: string) => string | undefined,
): string | undefined {
  const runs = open.map(({ runId, message }) => ({ runId, word: liveWord(runId) ?? message?.status }));
  const atWork = runs.filter(({ word }) => word === 'in progress');
  const started = runs.filter(({ word }) => word !== 'in queue');
  return (atWork.at(-1) ?? started.at(-1) ?? runs[0])?.runId;
}

/** Returns a sentence why there is no answer, or undefined if there is one. */
export function failureSentence({ status, error }: Message): string | undefined {
  if (status === 'cancelled') return 'It was cancelled, so there is no answer.';
  if (status !== 'failed') return undefined;
  const reason = error === null || error.message === '' ? 'Its run says no more.' : error.message;
  return `There is no answer, because the run failed. ${reason}`;
}
