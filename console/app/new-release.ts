import { isGuarded } from './leave-guard.js';

const KEY = 'reloaded-at';
const PAUSE_MS = 30_000;

/**
 * A page that was open while the service was upgraded asks for parts of a release that is gone. Loading it again gets the
 * new release; once only, because a part can be missing for other reasons, and not over unsaved changes: there the place of
 * the part says that it is missing.
 */
export function reloadForNewRelease(): void {
  addEventListener('vite:preloadError', (event) => {
    if (isGuarded()) return;
    if (Date.now() - Number(sessionStorage.getItem(KEY)) < PAUSE_MS) return;
    event.preventDefault();
    sessionStorage.setItem(KEY, String(Date.now()));
    location.reload();
  });
}
