// The address that was asked for, over a sign-in at an identity provider, which comes back to the root. The tab keeps it, and
// nobody else sees it.
const KEY = 'return-address';

export function keepReturnAddress(path: string): void {
  sessionStorage.setItem(KEY, path);
}

/** What was kept, once. */
export function takeReturnAddress(): string | null {
  const path = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return path;
}
