// Lists the differences between two drawings, for people who must choose one.
import { dataOf, labelOf, nodesOf, type Drawing, type NodeKinds } from './drawing.js';
import { isObject, isEqualJson, ownValue } from '../../graph/json.js';
import { linksOf } from './links.js';
import { cutText } from '../../graph/cut-text.js';

interface Difference {
  /**
   * A node's label, with the path of the field that differs (`Call: settings › model`); `Link` and the labels of its
   * ends; or `Layout and looks`.
   */
  subject: string;
  /** Undefined if this side lacks the subject. */
  mine: string | undefined;
  theirs: string | undefined;
}

const MAX_DIFFERENCES = 200;
const MAX_TEXT = 400;

/**
 * Returns at most `MAX_DIFFERENCES`. Positions and looks are one difference, which is only listed if nothing else
 * differs, because they rarely decide the choice.
 */
export function differencesOf(mine: Drawing, theirs: Drawing, kinds: NodeKinds): Difference[] {
  const content = [...nodeDifferences(mine, theirs, kinds), ...linkDifferences(mine, theirs, kinds)];
  const looks: Difference = { subject: 'Layout and looks', mine: 'as you have it', theirs: 'as they have it' };
  const hasLooks = content.length === 0 && !isEqualJson(mine, theirs);
  return [...content, ...(hasLooks ? [looks] : [])].slice(0, MAX_DIFFERENCES);
}

function nodeDifferences(mine: Drawing, theirs: Drawing, kinds: NodeKinds): Difference[] {
  const ids = new Set([...nodesOf(mine).keys(), ...nodesOf(theirs).keys()]);
  return [...ids].flatMap((id) => {
    const [left, right] = [nodesOf(mine).get(id), nodesOf(theirs).get(id)];
    const name = labelOf(left ?? right, kinds);
    if (left === undefined || right === undefined) {
      return [{ subject: name, mine: left && 'the node', theirs: right && 'the node' }];
    }
    return dataDifferences(name, dataOf(left), dataOf(right), []);
  });
}

const LINK_FIELDS = new Set(['next_nodes']);

function dataDifferences(name: string, mine: unknown, theirs: unknown, path: readonly string[]): Difference[] {
  if (isEqualJson(mine, theirs)) return [];
  if (isObject(mine) && isObject(theirs) && path.length < 4) {
    const keys = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
    return [...keys]
      .filter((key) => path.length > 0 || !LINK_FIELDS.has(key))
      .flatMap((key) => dataDifferences(name, ownValue(mine, key), ownValue(theirs, key), [...path, key]));
  }
  return [{ subject: `${name}: ${path.join(' › ')}`, mine: toText(mine), theirs: toText(theirs) }];
}

function linkDifferences(mine: Drawing, theirs: Drawing, kinds: NodeKinds): Difference[] {
  const [left, right] = [linksOf(mine, kinds), linksOf(theirs, kinds)];
  const [leftIds, rightIds] = [new Set(left.map(({ id }) => id)), new Set(right.map(({ id }) => id))];
  const name = (drawing: Drawing, { source, target }: { source: string; target: string }): string =>
    `Link ${labelOf(nodesOf(drawing).get(source), kinds)} to ${labelOf(nodesOf(drawing).get(target), kinds)}`;
  return [
    ...left
      .filter(({ id }) => !rightIds.has(id))
      .map((link) => ({ subject: name(mine, link), mine: 'the link', theirs: undefined })),
    ...right
      .filter(({ id }) => !leftIds.has(id))
      .map((link) => ({ subject: name(theirs, link), mine: undefined, theirs: 'the link' })),
  ];
}

function toText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_TEXT ? `${cutText(text, MAX_TEXT)}…` : text;
}
