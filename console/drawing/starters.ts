// Templates for an empty drawing: a few linked nodes in which a person must fill in at most an address or a model.
import { addNode, connect, setData, tidyUp } from './change-drawing.js';
import { dataOf, nodesOf, typeOf, type Drawing, type NodeKind, type NodeKinds } from './drawing.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { exitsOf } from './links.js';

export interface Starter {
  name: string;
  line: string;
  /** Kind whose icon is shown. */
  icon: string;
  /** True if the workflow is then offered as a chat. */
  isChat: boolean;
  /** `needsModel`: a person must choose the model of the chosen node. */
  make: (drawing: Drawing) => { drawing: Drawing; chosen: string; needsModel: boolean };
}

/** A node linked from an earlier one. `data` receives the ids of this node and of the earlier ones, by type. */
interface Step {
  type: string;
  data?: (ids: Readonly<Record<string, string>>) => JsonObject;
  /** Handle of the earlier node's exit; the ordinary one by default. */
  by?: string;
  /** Type of the earlier node; the previous step's by default. */
  behind?: string;
}

interface Plan extends Pick<Starter, 'name' | 'line' | 'icon'> {
  /** Type of the node that is selected once the template is inserted. */
  chosen: string;
  isChat?: true;
  steps: readonly Step[];
}

const TRIGGER = 'trigger-node';
const HTTP = 'http-node';
const MODEL = 'basic-node';
const EACH = 'for-each-node';
const SET = 'set-node';
const OUTPUT = 'output-node';

const QUESTION = { id: 'question', title: 'Question', type: 'text', input_requirements: true };
const ITEMS = { id: 'items', title: 'Items', type: 'json', default_value: ['one', 'two', 'three'] };

const PLANS: readonly Plan[] = [
  {
    name: 'HTTP request',
    line: 'Call an address and put out its answer',
    icon: HTTP,
    chosen: HTTP,
    steps: [
      { type: TRIGGER },
      { type: HTTP },
      { type: OUTPUT, data: (ids) => ({ value: `{{ ${ids[HTTP]}.result.content }}` }) },
    ],
  },
  {
    name: 'Ask a model',
    line: 'Put a question to a language model',
    icon: MODEL,
    chosen: MODEL,
    steps: [
      { type: TRIGGER, data: () => ({ input_fields: [QUESTION] }) },
      { type: MODEL, data: () => ({ messages: [{ role: 'user', message: '{{ input.question }}' }] }) },
      { type: OUTPUT, data: (ids) => ({ value: `{{ ${ids[MODEL]}.result.content }}` }) },
    ],
  },
  {
    name: 'Chat',
    line: 'Let people talk with a language model',
    icon: 'agent-node',
    chosen: MODEL,
    isChat: true,
    steps: [
      { type: TRIGGER },
      {
        type: MODEL,
        data: () => ({
          messages: [
            { role: 'assistant', message: 'What was said so far: {{ input.messages }}' },
            { role: 'user', message: '{{ input.message }}' },
          ],
        }),
      },
      { type: OUTPUT, data: (ids) => ({ value: `{{ ${ids[MODEL]}.result.content }}` }) },
    ],
  },
  {
    name: 'Loop over items',
    line: 'Do something with each item of a list',
    icon: EACH,
    chosen: EACH,
    steps: [
      { type: TRIGGER, data: () => ({ input_fields: [ITEMS] }) },
      { type: EACH, data: () => ({ items: '{{ input.items }}' }) },
      { type: OUTPUT, data: (ids) => ({ value: `{{ ${ids[EACH]}.result.items }}` }) },
      { type: SET, behind: EACH, by: 'body', data: (ids) => ({ value: `{{ ${ids[EACH]}.item }}` }) },
    ],
  },
];

/** Returns the templates whose kinds the service has. */
export function startersOf(kinds: NodeKinds): Starter[] {
  return PLANS.filter(({ steps }) => steps.every(({ type }) => kinds.has(type))).map(
    ({ steps, chosen, isChat = false, ...plan }) => ({
      ...plan,
      isChat,
      make: (drawing) => make(drawing, kinds, steps, chosen),
    }),
  );
}

function make(initial: Drawing, kinds: NodeKinds, steps: readonly Step[], chosen: string) {
  const ids: Record<string, string> = {};
  let drawing = initial;
  let last: string | undefined;
  for (const { type, data, by, behind = last } of steps) {
    const kind: NodeKind = kinds.get(type)!;
    const added = addNode(drawing, kinds, kind, { x: 0, y: 0 });
    ids[type] = added.id;
    const own = dataOf(nodesOf(added.drawing).get(added.id));
    drawing = setData(added.drawing, added.id, { ...own, ...data?.(ids) });
    if (behind !== undefined) drawing = linked(drawing, kinds, ids[behind]!, by, added.id);
    last = type;
  }
  const { settings } = dataOf(nodesOf(drawing).get(ids[chosen]!));
  const needsModel = isObject(settings) && (settings['model_name'] ?? '') === '';
  return { drawing: tidyUp(drawing, kinds), chosen: ids[chosen]!, needsModel };
}

function linked(drawing: Drawing, kinds: NodeKinds, source: string, by: string | undefined, target: string): Drawing {
  const from = nodesOf(drawing).get(source)!;
  const exits = exitsOf(kinds.get(typeOf(from)), dataOf(from));
  const exit = exits.find(({ handle }) => (by === undefined ? handle === null : handle === by)) ?? exits[0];
  return connect(drawing, kinds, { source, handle: exit?.handle ?? null, target });
}
