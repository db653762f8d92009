import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listApprovals, readApproval } from './approval.js';
import type { Approval } from './approval-types.js';
import { freshOf, missingOf, withChanges, withOlder } from './snapshot.js';

const ASK_EVERY_MS = 10_000;
const PAGE_SIZE = 50;

interface Listed {
  items: Approval[];
  total: number;
}

/** The requests that wait, as a list in which nothing moves by itself. It lasts as long as the page. */
export function useWaiting() {
  const [pages, setPages] = useState(1);
  const [shown, setShown] = useState<readonly Approval[]>();
  const [seen, setSeen] = useState<readonly Approval[]>();
  const list = useQuery({
    queryKey: ['approvals', 'pending', 'list', pages],
    queryFn: ({ signal }) => readPages(pages, signal),
    refetchInterval: ASK_EVERY_MS,
    placeholderData: (before) => before,
  });
  const listed = list.data?.items;
  // What is below those that are shown moves nothing, and is shown at once.
  if (listed !== undefined && listed !== seen) {
    setSeen(listed);
    setShown(shown === undefined ? listed : withOlder(shown, listed));
  }
  const missing = shown === undefined || listed === undefined ? [] : missingOf(shown, listed);
  const current = withChanges(shown ?? [], useEach(missing));
  const fresh = shown === undefined || listed === undefined ? [] : freshOf(shown, listed);
  return {
    list,
    /** Undefined until the first answer. */
    requests: shown === undefined ? undefined : current,
    total: list.data?.total ?? 0,
    fresh,
    hasMore: listed !== undefined && listed.length < (list.data?.total ?? 0),
    showFresh: () => setShown([...fresh, ...current]),
    showMore: () => setPages(pages + 1),
    change: (request: Approval) => setShown(withChanges(current, [request])),
  };
}

/** What has become of requests that are listed no longer. */
function useEach(ids: readonly string[]): Approval[] {
  const answers = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['approvals', 'one', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => readApproval(id, signal),
      refetchInterval: ASK_EVERY_MS,
    })),
  });
  return answers.flatMap(({ data }) => data ?? []);
}

async function readPages(pages: number, signal: AbortSignal): Promise<Listed> {
  const items = new Map<string, Approval>();
  let total = 0;
  for (let page = 1; page <= pages; page += 1) {
    const part = await listApprovals({ status: 'pending', page, size: PAGE_SIZE }, signal);
    total = part.total;
    for (const request of part.items) items.set(request.request_id, request);
    if (part.items.length < part.size) break;
  }
  return { items: [...items.values()], total };
}
