// The graphs under load. Each node calls a path of its own in each run: /<tag>/<number>.
import { chain, condition, fanOut, http, resultOf, type Drawing } from '../../harness/drawing/drawing.js';

/** Trigger, three GETs, a condition. */
export function smallRun(targetUrl: string): Drawing {
  return chain(5, (index) => (index < 3 ? http(addressOf(targetUrl, index)) : condition('1', '==', '1')));
}

/** Trigger and one GET that takes `delayMs`. */
export function slowRun(targetUrl: string, delayMs: number): Drawing {
  return chain(2, (index) => http(`${addressOf(targetUrl, index)}?delay=${delayMs}`));
}

/** A GET of `sizeBytes`, `posts` times handed on as the body of a POST that answers as much again, and compared. */
export function largeChain(targetUrl: string, sizeBytes: number, posts: number): Drawing {
  let before = http(`${addressOf(targetUrl, 0)}?bytes=${sizeBytes}`);
  return chain(posts + 3, (index) => {
    if (index === 0) return before;
    if (index > posts) return condition(resultOf(before), '==', resultOf(before));
    const url = `${addressOf(targetUrl, index)}?bytes=${sizeBytes}`;
    before = http(url, { method: 'POST', body: resultOf(before) });
    return before;
  });
}

/** `width` GETs of `sizeBytes` side by side. */
export function largeFanOut(targetUrl: string, sizeBytes: number, width: number): Drawing {
  return fanOut(width, (index) => http(`${addressOf(targetUrl, index)}?bytes=${sizeBytes}`));
}

function addressOf(targetUrl: string, number: number): string {
  return `${targetUrl}/{{ input.tag }}/${number}`;
}
