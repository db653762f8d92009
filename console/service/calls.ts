/** A person waits. A call that does not succeed within about two seconds is reported, with a button to try again. */
export const CALL_RETRIES = { maxAttempts: 3, firstDelayMs: 300, longestRetryAfterMs: 1_000 };

interface Page<Item> {
  items: readonly Item[];
  total: number;
}

/** Choices must be complete, but a list of more pages than this is no choice any more. */
const MOST_PAGES = 20;

/** Returns the items of all pages. `read` returns one page; the first page is 1. */
export async function readAllPages<Item>(read: (page: number) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const part = await read(page);
    items.push(...part.items);
    if (part.items.length === 0 || items.length >= part.total) break;
  }
  return items;
}
