/**
 * A person waits for the call, so retries end within about two seconds. The page then reports the error and offers a
 * button to try again.
 */
export const CALL_RETRIES = { maxAttempts: 3, firstDelayMs: 300, longestRetryAfterMs: 1_000 };

interface Page<Item> {
  items: readonly Item[];
  total: number;
}

/** The limit of pages per list of choices, because nobody chooses from a longer list. */
const MOST_PAGES = 20;

/** Reads a list page by page, from page 1, up to `MOST_PAGES`. */
export async function readAllPages<Item>(read: (page: number) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const part = await read(page);
    items.push(...part.items);
    if (part.items.length === 0 || items.length >= part.total) break;
  }
  return items;
}
