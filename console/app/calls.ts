/** A person waits: what does not succeed within about two seconds is told, with a button to try again. */
export const CALL_RETRIES = { maxAttempts: 3, firstDelayMs: 300, longestRetryAfterMs: 1_000 };

interface Page<Item> {
  items: readonly Item[];
  total: number;
}

/** Of a list envelope: for choices, which must be complete. More than this many pages are no choice any more. */
const MOST_PAGES = 20;

/** `read` answers a page, the first one being 1. */
export async function readAllPages<Item>(read: (page: number) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const part = await read(page);
    items.push(...part.items);
    if (part.items.length === 0 || items.length >= part.total) break;
  }
  return items;
}
