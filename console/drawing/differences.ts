// Lists the differences between two drawings, for people who must choose one.
import { dataOf, labelOf, nodesOf, startOf, typeOf, type Drawing, type NodeKinds } from './drawing.js';
import { isObject, isEqualJson, ownValue, type JsonObject } from '../../graph/json.js';
import { linksOf } from './links.js';
import { notesOf, textOfNote, type DrawnNote } from './notes.js';
import { cutText } from '../../graph/cut-text.js';

interface Difference {
  /**
   * A node's label, with the path of the field that differs (`Call: settings › model`); `Workflow` with the path of a
   * setting; `Link` and the labels of its ends; `Start`; `Note`; or `Layout and looks`.
   */
  subject: string;
  /** Undefined if this side lacks the subject. */
  mine: string | undefined;
  theirs: string | undefined;
}

const MAX_DIFFERENCES = 200;
const MAX_TEXT = 400;

/**
 * Returns at most `MAX_DIFFERENCES`. Positions and other looks make one difference, which is only listed if nothing
 * else differs, because they rarely decide the choice.
 */
export function differencesOf(mine: Drawing, theirs: Drawing, kinds: NodeKinds): Difference[] {
  const content = [
    ...startDifferences(mine, theirs, kinds),
    ...dataDifferences('Workflow', settingsOf(mine), settingsOf(theirs), []),
    ...nodeDifferences(mine, theirs, kinds),
    ...linkDifferences(mine, theirs, kinds),
    ...noteDifferences(mine, theirs),
  ];
  const looks: Difference = { subject: 'Layout and looks', mine: 'as you have it', theirs: 'as they have it' };
  const hasLooks = content.length === 0 && !isEqualJson(mine, theirs);
  return [...content, ...(hasLooks ? [looks] : [])].slice(0, MAX_DIFFERENCES);
}

function startDifferences(mine: Drawing, theirs: Drawing, kinds: NodeKinds): Difference[] {
  if (startOf(mine) === startOf(theirs)) return [];
  const name = (drawing: Drawing): string | undefined => {
    const start = startOf(drawing);
    return start === undefined ? undefined : labelOf(nodesOf(drawing).get(start), kinds);
  };
  return [{ subject: 'Start', mine: name(mine), theirs: name(theirs) }];
}

/** These keys of a drawing have differences of their own, or no run reads them. */
const NO_SETTINGS: ReadonlySet<string> = new Set(['nodes', 'edges', 'start_node', 'notes', 'viewport', 'remarks']);

function settingsOf(drawing: Drawing): JsonObject {
  return Object.fromEntries(Object.entries(drawing).filter(([key]) => !NO_SETTINGS.has(key)));
}

function nodeDifferences(mine: Drawing, theirs: Drawing, kinds: NodeKinds): Difference[] {
  const ids = new Set([...nodesOf(mine).keys(), ...nodesOf(theirs).keys()]);
  return [...ids].flatMap((id) => {
    const [left, right] = [nodesOf(mine).get(id), nodesOf(theirs).get(id)];
    const name = labelOf(left ?? right, kinds);
    if (left === undefined || right === undefined) {
      return [{ subject: name, mine: left && 'the node', theirs: right && 'the node' }];
    }
    const [was, is] = [left, right].map((node) => kinds.get(typeOf(node))?.title ?? typeOf(node));
    const type = typeOf(left) === typeOf(right) ? [] : [{ subject: `${name}: type`, mine: was, theirs: is }];
    return [...type, ...dataDifferences(name, dataOf(left), dataOf(right), [])];
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

/** Positions and sizes of notes are looks. */
function noteDifferences(mine: Drawing, theirs: Drawing): Difference[] {
  const [left, right] = [notesOf(mine), notesOf(theirs)];
  const text = (note: DrawnNote | undefined) => note && (textOfNote(note) || 'an empty note');
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((id) => {
    const [own, other] = [text(left.get(id)), text(right.get(id))];
    return own === other ? [] : [{ subject: 'Note', mine: toText(own), theirs: toText(other) }];
  });
}

function toText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_TEXT ? `${cutText(text, MAX_TEXT)}…` : text;
}
