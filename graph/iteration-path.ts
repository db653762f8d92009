// The path of an iteration, such as `LOOP[3]/INNER[0]`: loops with iteration indexes, outermost first. Empty outside
// loops. This file imports nothing, because the run workflow imports it.

/** Percent-encodes the characters that delimit ids in paths and names. Other characters stay as they are. */
export function encodeId(id: string): string {
  return id.replace(/[%/[\]~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns the path of an iteration of the loop `loopId`, whose own path is `path`. */
export function iterationPath(path: string, loopId: string, index: number): string {
  return `${iterationsPrefix(path, loopId)}${index}]`;
}

/** Returns the common prefix of the paths of all iterations of the loop. */
export function iterationsPrefix(path: string, loopId: string): string {
  return `${path === '' ? '' : `${path}/`}${encodeId(loopId)}[`;
}

/**
 * Returns the part of `path` that consists of these loops, outermost first. Undefined if the path starts with other
 * loops or is shorter.
 */
export function scopeOfPath(path: string, loopIds: readonly string[]): string | undefined {
  let end = 0;
  for (const loopId of loopIds) {
    const head = `${end === 0 ? '' : '/'}${encodeId(loopId)}[`;
    if (!path.startsWith(head, end)) return undefined;
    end = path.indexOf(']', end + head.length) + 1;
    if (end === 0) return undefined;
  }
  return path.slice(0, end);
}

/** Returns the index of the innermost iteration of a path. */
export function indexOfPath(path: string): number {
  return Number(/\[(\d+)\]$/.exec(path)?.[1] ?? 0);
}

/** Returns the loop and the index of the innermost iteration of a path, which must not be empty. */
export function innermostLoop(path: string): { path: string; nodeId: string; index: number } {
  const start = path.lastIndexOf('/') + 1;
  const nodeId = path.slice(start, path.lastIndexOf('['));
  return { path: path.slice(0, Math.max(0, start - 1)), nodeId: decodeId(nodeId), index: indexOfPath(path) };
}

/** Reverses `encodeId`. */
export function decodeId(id: string): string {
  return id.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
