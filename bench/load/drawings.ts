// The graphs of the load scenarios. Each node of each run calls its own path: /<tag>/<number>.
import { chain, condition, fanOut, http, resultOf, type Drawing } from '../../harness/drawing/drawing.js';

/** A trigger, three GETs and a condition. */
export function smallRun(targetUrl: string): Drawing {
  return chain(5, (index) => (index < 3 ? http(addressOf(targetUrl, index)) : condition('1', '==', '1')));
}

/** A trigger and one GET that takes `delayMs`. */
export function slowRun(targetUrl: string, delayMs: number): Drawing {
  return chain(2, (index) => http(`${addressOf(targetUrl, index)}?delay=${delayMs}`));
}

/**
 * A GET that answers `sizeBytes`, then `posts` POSTs, each with the previous answer as its body and an answer of the
 * same size, then a condition that compares the last answer with itself.
 */
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

/** `width` parallel GETs that answer `sizeBytes` each. */
export function largeFanOut(targetUrl: string, sizeBytes: number, width: number): Drawing {
  return fanOut(width, (index) => http(`${addressOf(targetUrl, index)}?bytes=${sizeBytes}`));
}

function addressOf(targetUrl: string, number: number): string {
  return `${targetUrl}/{{ input.tag }}/${number}`;
}
