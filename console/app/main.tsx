import { createRoot } from 'react-dom/client';
import '../ui/theme.css';
import { App } from './app.js';
import { tellNonceToLibraries } from './nonce.js';
import { queryClient } from './query-client.js';
import { reloadForNewRelease } from './new-release.js';
import { session } from './session.js';
import { ownerOf } from './use-session.js';

tellNonceToLibraries();
reloadForNewRelease();

// What one person has read is nothing for the next one at the same page.
let userId: number | undefined;
session.subscribe(() => {
  const next = ownerOf(session.state())?.id;
  if (next !== userId) queryClient.clear();
  userId = next;
});
void session.start();

createRoot(document.getElementById('console')!).render(<App />);
