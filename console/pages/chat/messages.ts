// The messages of a conversation as a page shows them. The service lists the oldest first, and a chat begins at its end.
import type { components } from '../../../clients/typescript/src/index.js';

export type Message = components['schemas']['Message'];

export const PAGE_SIZE = 50;
/** A chat begins with at least so many messages, if it has them. */
const FEWEST = 20;

/** The pages that were read, by their numbers. There is no gap between them. */
export interface Loaded {
  pages: ReadonlyMap<number, readonly Message[]>;
  /** How many messages the conversation has. */
  total: number;
}

type ReadPage = (page: number) => Promise<{ items: readonly Message[]; total: number }>;

function lastPage(total: number): number {
  return Math.max(1, Math.ceil(total / PAGE_SIZE));
}

export function firstLoaded({ pages }: Loaded): number {
  return Math.min(...pages.keys());
}

/** Reads the newest messages, and of those that are known the ones that may have changed. */
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

/** Answers stand at the end. The status of a message without one may have changed wherever it stands. */
function firstToRead({ pages, total }: Loaded): number {
  const answered = new Set(
    [...pages.values()].flat().flatMap((item) => (item.role === 'assistant' ? item.run_id : [])),
  );
  const open = [...pages].flatMap(([page, items]) =>
    items.some((item) => item.role === 'user' && !answered.has(item.run_id)) ? page : [],
  );
  return Math.min(lastPage(total), ...open);
}

/** Pages that were read meanwhile stay. */
export function together(one: Loaded | undefined, other: Loaded): Loaded {
  return { pages: new Map([...(one?.pages ?? []), ...other.pages]), total: Math.max(one?.total ?? 0, other.total) };
}

/** A message of a person and the answer to it. One of the two may be missing, but not both. */
export interface Exchange {
  runId: string;
  /** Undefined if it stands on a page that is not read. */
  message: Message | undefined;
  /** Undefined while the run goes on. */
  answer: Message | undefined;
  /** What stood in its place before it was asked anew, oldest first. */
  former: Exchange[];
}

/** Returns the exchanges of the present branch, oldest first. Each has before it what was left aside for it. */
export function toExchanges({ pages }: Loaded): Exchange[] {
  const byRun = new Map<string, Exchange>();
  const inOrder = [...pages].toSorted(([one], [other]) => one - other).flatMap(([, items]) => items);
  for (const item of inOrder) {
    const known = byRun.get(item.run_id) ?? { runId: item.run_id, message: undefined, answer: undefined, former: [] };
    byRun.set(item.run_id, item.role === 'user' ? { ...known, message: item } : { ...known, answer: item });
  }
  // An answer without its message is of a message before all that are read.
  const all = [...byRun.values()];
  return inBranch([...all.filter(({ message }) => !message), ...all.filter(({ message }) => message)]);
}

function inBranch(exchanges: readonly Exchange[]): Exchange[] {
  const places = new Map(exchanges.flatMap(({ message }, place) => (message ? [[message.id, place] as const] : [])));
  const before: number[] = [];
  for (const [place, { message }] of exchanges.entries()) {
    const replaced = message?.replaces ?? undefined;
    if (replaced === undefined) before.push(place - 1);
    // The replaced message may stand on a page that is not read: then nothing that is read comes before this one.
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

/** Returns the exchanges whose runs have not ended, oldest first. */
export function openOf(exchanges: readonly Exchange[]): Exchange[] {
  return exchanges
    .flatMap((exchange) => [...exchange.former, exchange])
    .filter(({ message, answer }) => answer === undefined && message !== undefined);
}

/** Returns the run that is stopped first: the newest that has begun, else the first of those that are queued. */
export function runToStop(open: readonly Exchange[]): string | undefined {
  const begun = open.filter(({ message }) => message?.status !== 'in queue');
  return (begun.at(-1) ?? open[0])?.runId;
}

/** Returns why there is no answer, in a sentence; undefined if there is one. */
export function failureSentence({ status, error }: Message): string | undefined {
  if (status === 'cancelled') return 'It was cancelled, so there is no answer.';
  if (status !== 'failed') return undefined;
  const said = error === null || error.message === '' ? 'Its run says no more.' : error.message;
  return `There is no answer, because the run failed. ${said}`;
}
