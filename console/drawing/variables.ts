// The variables that a node can use, such as fields of the run's input and results of earlier nodes.
import { loopsAround } from '../../graph/loop-bodies.js';
import { bodiesOf } from './bodies.js';
import {
  dataOf,
  labelOf,
  nodesOf,
  triggerOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type NodeKinds,
} from './drawing.js';
import { isObject } from '../../graph/json.js';
import { asArray, asText } from '../ui/json.js';
import { before, linksOf } from './links.js';
import { toPath } from './variable-path.js';

export interface VariableChoice {
  label: string;
  /** `{{ input.name }}` */
  text: string;
  hint?: string;
  /** The beginning of an actual value. */
  value?: string;
  /** The actual value. */
  known?: unknown;
  /** The parsed JSON of a text. If it is set, the parts of the choice are read from here instead of from `known`. */
  parts?: object;
  /**
   * The path with which the paths of the parts begin, if that is not the path of the choice: `a.result` for the choice
   * `{{ a.result.content }}`, whose part `name` is `{{ a.result.name }}`.
   */
  root?: string;
}

export interface VariableGroup {
  heading: string;
  /** The node that gives the values. */
  nodeId?: string;
  /** The source of the actual values, such as `pinned` or `of the last run`. */
  origin?: string;
  choices: VariableChoice[];
}

/**
 * Returns the groups of variables: the run's input, the variables of enclosing loops, then earlier nodes, nearest
 * first. A loop also gets the variables and results of its own body, which it can read after each iteration.
 * `isChat`: the workflow is offered as a chat, whose messages bring input of their own.
 */
export function variablesFor(drawing: Drawing, kinds: NodeKinds, id: string, isChat = false): VariableGroup[] {
  const bodies = bodiesOf(drawing, kinds);
  const around = loopsAround(bodies, id);
  const trigger = triggerOf(drawing, kinds);
  const earlier = before(linksOf(drawing, kinds), id)
    // An enclosing loop has no result yet.
    .filter((nodeId) => nodeId !== trigger?.id && !around.includes(nodeId))
    .map((nodeId) => resultsOf(drawing, kinds, nodeId));
  const loops = around.map((loop) => iterationOf(drawing, kinds, loop));
  const inside = bodies.members.get(id) ?? [];
  const own = inside.length === 0 ? [] : [iterationOf(drawing, kinds, id)];
  const body = inside.map((nodeId) => resultsOf(drawing, kinds, nodeId));
  return [inputOf(trigger, isChat), ...loops, ...earlier, ...own, ...body].filter(({ choices }) => choices.length > 0);
}

/** Returns the variables that a loop provides in its body, such as `item`. */
function iterationOf(drawing: Drawing, kinds: NodeKinds, loop: string): VariableGroup {
  const node = nodesOf(drawing).get(loop);
  const names = kinds.get(node ? typeOf(node) : '')?.body_variables ?? [];
  const choices = names.map((name) => ({
    label: name.charAt(0).toUpperCase() + name.slice(1),
    text: `{{ ${loop}.${name} }}`,
  }));
  return { heading: `${labelOf(node, kinds)}, each iteration`, choices };
}

/** The fields that each message of a chat brings (docs/use/conversations.md). */
export const OF_A_CHAT: readonly VariableChoice[] = [
  { label: 'Message', text: '{{ input.message }}', hint: 'What the person has written' },
  { label: 'Messages', text: '{{ input.messages }}', hint: 'What was said so far, with this message as the last' },
  { label: 'Files', text: '{{ input.files }}', hint: 'The files of the message' },
  { label: 'Conversation', text: '{{ input.conversation_id }}', hint: 'The id of the conversation' },
];

function inputOf(trigger: DrawnNode | undefined, isChat: boolean): VariableGroup {
  const declared = asArray(dataOf(trigger)['input_fields']).flatMap((field) => {
    const id = isObject(field) ? asText(field['id']) : undefined;
    if (!isObject(field) || id === undefined || id === '') return [];
    return [{ label: asText(field['title']) || id, text: `{{ input${toPath(id)} }}` }];
  });
  const texts = new Set(declared.map(({ text }) => text));
  const ofChat = isChat ? OF_A_CHAT.filter(({ text }) => !texts.has(text)) : [];
  return {
    heading: 'Input of the run',
    ...(trigger !== undefined && { nodeId: trigger.id }),
    choices: [...ofChat, ...declared],
  };
}

function resultsOf(drawing: Drawing, kinds: NodeKinds, nodeId: string): VariableGroup {
  const node = nodesOf(drawing).get(nodeId);
  const schema = kinds.get(node ? typeOf(node) : '')?.output_schema;
  const properties = isObject(schema?.['properties']) ? schema['properties'] : { content: { title: 'Content' } };
  const choices = Object.entries(properties).map(([key, property]) => {
    const { title, description } = isObject(property) ? property : {};
    const hint = asText(description);
    return {
      label: asText(title) ?? key,
      text: `{{ ${nodeId}.result${toPath(key)} }}`,
      ...(hint !== undefined && { hint }),
    };
  });
  const isCaught = ['continue', 'branch'].includes(String(dataOf(node)['on_error']));
  return { heading: labelOf(node, kinds), nodeId, choices: isCaught ? [...choices, ...errorsOf(nodeId)] : choices };
}

/** Returns the error variables of a node whose failure the run survives. */
function errorsOf(nodeId: string): VariableChoice[] {
  return [
    { label: 'Code of the error', text: `{{ ${nodeId}.error.code }}` },
    { label: 'Message of the error', text: `{{ ${nodeId}.error.message }}` },
  ];
}
