// The name of a workflow as a tool: words of its title and its id. With the id it belongs to one workflow for ever: a
// client that knows the name from an earlier list never calls another one.
import { MAX_ID } from '../http/path-ids.js';

const MAX_CHARACTERS = 64;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const ID = /(?:^|_)([1-9]\d{0,9})$/;
const MARKS = /\p{M}/gu;

export function toToolName({ id, title }: { id: number; title: string }): string {
  const suffix = `_${id}`;
  const words = title
    .normalize('NFKD')
    .replaceAll(MARKS, '')
    .split(/[^A-Za-z0-9-]+/)
    .filter((word) => /[A-Za-z0-9]/.test(word))
    .join('_')
    .slice(0, MAX_CHARACTERS - suffix.length)
    .replace(/[_-]+$/, '');
  return `${words === '' ? 'workflow' : words}${suffix}`;
}

/** The id that the name of a tool ends with; undefined for what can be the name of none. */
export function idInToolName(name: string): number | undefined {
  const id = NAME.test(name) ? Number(ID.exec(name)?.[1]) : Number.NaN;
  return Number.isInteger(id) && id <= MAX_ID ? id : undefined;
}
