import { createRoot } from 'react-dom/client';
import '../ui/theme.css';
import { App } from './app.js';
import { tellNonceToLibraries } from './nonce.js';
import { queryClient } from './query-client.js';
import { reloadForNewRelease } from './new-release.js';
import { session } from './session.js';

tellNonceToLibraries();
reloadForNewRelease();

// What one person has read is nothing for the next one at the same page.
let userId: number | undefined;
session.subscribe(() => {
  const state = session.state();
  const next = state.phase === 'in' ? state.user.id : undefined;
  if (next !== userId) queryClient.clear();
  userId = next;
});
void session.start();

createRoot(document.getElementById('console')!).render(<App />);
