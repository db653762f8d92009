import { iterationPath } from '../../../../graph/iteration-path.js';

/** Returns the path of an iteration in the service's format: `LOOP[3]/INNER[0]`. */
export function pathOf(iterations: readonly (readonly [loop: string, index: string])[]): string {
  return iterations.reduce((path, [loop, index]) => iterationPath(path, loop, Number(index)), '');
}
