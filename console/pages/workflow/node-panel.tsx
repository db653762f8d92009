import { filesControl } from '../../files/files-picker.js';
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { ALIGNMENTS } from '../../drawing/arrange.js';
import { connect, disconnect, followHandles, setData } from '../../drawing/change-drawing.js';
import {
  dataOf,
  isStart,
  labelOf,
  nodesOf,
  startOf,
  typeOf,
  type Drawing,
  type DrawnNode,
} from '../../drawing/drawing.js';
import { followNames } from '../../drawing/declared-names.js';
import { MODEL } from '../../drawing/only-model.js';
import { onlyNode, useEditor, useStore } from '../../drawing/editor-store.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { asObject, asText } from '../../ui/json.js';
import { before, exitsOf, linksOf, offeredExits, setAt, valueAt, type Exit, type Link } from '../../drawing/links.js';
import { openWithArrows } from '../../forms/fields.js';
import { FormContext, type SchemaFieldProps } from '../../forms/form.js';
import type { Path } from '../../forms/schema.js';
import { loadTextEditor } from '../../forms/variable-input.js';
import { insertText, useLastField, VariablePicker } from '../../forms/variable-picker.js';
import { KindForm } from '../../kinds/kind-form.js';
import { Button } from '../../ui/button.js';
import { Field, Hint, TextField } from '../../ui/fields.js';
import { Menu } from '../../ui/menu.js';
import { ActionConnectionField } from '../../parts/actions/action-connection.js';
import { ACTION, ActionField } from '../../parts/actions/action-field.js';
import { AGENT_TOOLS, AgentTools } from '../../parts/agent-tools/agent-tools.js';
import { TestMenu } from './test-run/test-menu.js';
import { TryButton } from './test-run/try-button.js';
import { CodeBeside } from './code-beside.js';
import './editor.css';
import { useFormVariables } from './form-variables.js';
import { McpToolField } from './mcp-tool-field.js';
import { ModelField } from './model-field.js';
import { alignSelection, describeChosen, duplicateSelection, plural, removeSelection } from './shortcuts.js';
import { PoolField } from './pool-field.js';
import { WorkflowField } from './workflow-field.js';

interface NodePanelProps {
  workflowId: number;
  projectId: number;
  isChat: boolean;
  /** Opens the wide view, with the node's incoming values and its result beside the form. */
  onWiden: () => void;
}

export function NodePanel(props: NodePanelProps) {
  const selection = useEditor((state) => state.selection);
  useEffect(() => void loadTextEditor().catch(() => undefined), []);
  const only = onlyNode(selection);
  const node = useEditor(({ history }) => (only === undefined ? undefined : nodesOf(history.present).get(only)));
  return (
    <section className="editor-node" aria-label="Node">
      {node === undefined ? <SelectionPanel /> : <NodeForm key={node.id} node={node} {...props} />}
    </section>
  );
}

function NodeForm({ node, workflowId, projectId, isChat, onWiden }: NodePanelProps & { node: DrawnNode }) {
  const store = useStore();
  const form = useRef<HTMLFieldSetElement>(null);
  const leave = useCallback(
    (control: HTMLElement): void => {
      store.endGesture();
      const path = control.closest<HTMLElement>('[data-path]')?.dataset['path'];
      if (path !== undefined) afterPointer(() => store.leaveField(node.id, path));
    },
    [store, node.id],
  );
  const lastField = useLastField(form, leave);
  const kind = store.kinds.get(typeOf(node));
  const data = dataOf(node);
  const variables = useFormVariables(workflowId, node.id, isChat);
  const fieldOf = (format: string, props: SchemaFieldProps) => {
    if (format === WORKFLOW_ID) return <WorkflowField projectId={projectId} {...props} />;
    if (format === CONNECTION_ID) {
      const owner = asObject(valueAt(data, props.path.slice(0, -1)));
      return <ActionConnectionField {...{ projectId, owner }} {...props} />;
    }
    if (format === AGENT_TOOLS) return <AgentTools {...{ projectId, workflowId }} nodeId={node.id} {...props} />;
    if (format === POOL) return <PoolField projectId={projectId} {...props} />;
    if (format === MODEL) return <ModelField {...props} />;
    if (format === ACTION) return <ActionField {...{ projectId, data }} {...props} />;
    if (format !== MCP_TOOL) return filesControl(format, { ...props, projectId });
    const server = asObject(valueAt(data, props.path.slice(0, -1)));
    return <McpToolField workflowId={workflowId} nodeId={node.id} server={server} {...props} />;
  };
  const besideCode = (code: Pick<SchemaFieldProps, 'path' | 'value' | 'onChange'>) => (
    <CodeBeside {...{ workflowId, data, variables }} nodeId={node.id} isReadOnly={store.isReadOnly} {...code} />
  );
  const begun = useRef<{ gesture: string | undefined; drawing: Drawing }>(undefined);
  const change = (path: Path, value: unknown): void => {
    // Reads the store, because a text editor may report two changes between two renderings.
    const own = nodesOf(store.drawing).get(node.id);
    if (own === undefined) return;
    const present = dataOf(own);
    const next = value === undefined ? removeAt(present, path) : setAt(present, path, value);
    const changed = setData(store.drawing, node.id, next as JsonObject);
    const gesture = isRearranged(valueAt(present, path), value) ? undefined : `${node.id}:${path.join('.')}`;
    const goesOn = gesture !== undefined && begun.current?.gesture === gesture && store.isWithin(gesture);
    if (!goesOn) begun.current = { gesture, drawing: store.drawing };
    const followed = followHandles(store.drawing, changed, store.kinds, node.id);
    store.change(
      followNames(begun.current?.drawing ?? store.drawing, followed, store.kinds, node.id),
      gesture === undefined ? {} : { gesture },
    );
  };
  return (
    <fieldset className="node-form" ref={form} disabled={store.isReadOnly}>
      <TextField label="Label" value={asText(data['label']) ?? ''} onChange={(label) => change(['label'], label)} />
      <div className="node-form-kind">
        <Hint>{kind?.description ?? 'The service does not know this kind of node.'}</Hint>
        <TryButton workflowId={workflowId} nodeId={node.id} />
        <TestMenu nodeId={node.id} />
        {!isStart(kind) && (
          <VariablePicker
            groups={variables.groups}
            onOpen={variables.want}
            onChoose={(text) => {
              const field = lastField();
              if (field !== undefined) insertText(field, text);
            }}
          />
        )}
        <Button
          className="node-widen"
          aria-label="Open wide"
          title="Open wide: Enter, or a double click on the node"
          onClick={onWiden}
        >
          <span aria-hidden="true">⤢</span>
        </Button>
      </div>
      <FormContext
        value={{ isReadOnly: store.isReadOnly, errors: useNodeErrors(node.id), fieldOf, variables, besideCode }}
      >
        {kind !== undefined && (
          <KindForm
            kind={kind}
            data={data}
            renderTargets={(path) => <ListedLinks node={node} path={path} />}
            onChange={change}
          />
        )}
      </FormContext>
      <Connections node={node} />
      <Foot node={node} />
    </fieldset>
  );
}

let isPointerDown = false;
addEventListener('pointerdown', () => (isPointerDown = true), true);
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (isPointerDown = false), true);

/** Waits until the pointer is up and its click has arrived: a message that appears earlier would move the target. */
function afterPointer(act: () => void): void {
  if (isPointerDown) addEventListener('pointerup', () => setTimeout(act), { once: true });
  else act();
}

function Foot({ node }: { node: DrawnNode }) {
  const store = useStore();
  const start = useEditor(({ history }) => startOf(history.present));
  if (store.isReadOnly) return null;
  return (
    <div className="node-form-foot">
      {start !== node.id && (
        <Button onClick={() => store.change({ ...store.drawing, start_node: node.id })}>Start runs here</Button>
      )}
      <Button aria-keyshortcuts="Control+D" onClick={() => duplicateSelection(store)}>
        Duplicate node
      </Button>
      <Button variant="danger" onClick={() => removeSelection(store)}>
        Delete node
      </Button>
    </div>
  );
}

/**
 * True if items were added, moved or removed, each of which is one step of Undo. Typing in an item continues
 * the current step.
 */
function isRearranged(old: unknown, now: unknown): boolean {
  if (!Array.isArray(old) || !Array.isArray(now)) return false;
  return old.length !== now.length || now.every((item) => old.includes(item));
}

/** Returns a copy without the property at the path. Removes no items of lists. */
function removeAt(value: JsonObject, path: Path): JsonObject {
  const [last, ...upwards] = path.toReversed();
  const parent = upwards.toReversed();
  const owner = parent.reduce<unknown>((current, part) => {
    return typeof current === 'object' && current !== null
      ? (current as Record<string | number, unknown>)[part]
      : undefined;
  }, value);
  if (!isObject(owner) || !Object.hasOwn(owner, String(last))) return value;
  const { [String(last)]: _gone, ...rest } = owner;
  return setAt(value, parent, rest) as JsonObject;
}

/** Actions for a selection that is not a single node. Renders nothing without a selection. */
function SelectionPanel() {
  const store = useStore();
  const { nodes: selected, links } = useEditor((state) => state.selection);
  const chosen = [describeChosen(store, selected), plural(links.size, 'link')].filter((part) => part !== undefined);
  if (chosen.length === 0) return null;
  return (
    <div className="node-form">
      <p>{chosen.join(' and ')} selected.</p>
      {!store.isReadOnly && (
        <div className="node-form-foot">
          {selected.size > 0 && <Arrange />}
          <Button variant="danger" onClick={() => removeSelection(store)}>
            Delete selection
          </Button>
        </div>
      )}
    </div>
  );
}

/** Actions on the selection other than deleting. */
function Arrange() {
  const store = useStore();
  const count = useEditor((state) => state.selection.nodes.size);
  const lines = ALIGNMENTS.map((alignment) => ({
    label: alignment.name,
    onSelect: () => alignSelection(store, alignment),
  }));
  return (
    <Menu
      label="Arrange"
      items={[{ label: 'Duplicate', onSelect: () => duplicateSelection(store) }, ...(count > 1 ? lines : [])]}
    />
  );
}

/** Links of the node, as a keyboard alternative to dragging. Items of lists show their own links. */
function Connections({ node }: { node: DrawnNode }) {
  const { kinds } = useStore();
  return (
    <div className="connections">
      {offeredExits(kinds.get(typeOf(node)), dataOf(node))
        .filter((exit) => !isListed(exit))
        .map((exit) => (
          <ExitLinks key={exit.handle ?? ''} node={node} exit={exit} />
        ))}
      <LostLinks node={node} />
    </div>
  );
}

/** Links from an exit that the node does not have, or does not offer now (`offeredExits`). */
function LostLinks({ node }: { node: DrawnNode }) {
  const { kinds } = useStore();
  const drawing = useDeferredValue(useEditor(({ history }) => history.present));
  const exits = offeredExits(kinds.get(typeOf(node)), dataOf(node));
  const lost = linksOf(drawing, kinds).filter(({ source, handle }) => {
    return source === node.id && !exits.some((exit) => exit.handle === handle);
  });
  if (lost.length === 0) return null;
  return (
    <div className="connections-exit">
      <Hint>Links from an exit that this node does not have. They do not run.</Hint>
      <LinkList links={lost} drawing={drawing} />
    </div>
  );
}

/** Links from the exit of the node that belongs to the list item at `path`. */
function ListedLinks({ node, path }: { node: DrawnNode; path: Path }) {
  const { kinds } = useStore();
  const exits = exitsOf(kinds.get(typeOf(node)), dataOf(node)).filter(isListed);
  const exit = exits.find((each) => each.path[0] === path[0] && each.path[1] === path[1]);
  return exit === undefined ? (
    <Hint>It can lead to a node once it has an ID.</Hint>
  ) : (
    <ExitLinks node={node} exit={exit} />
  );
}

/** True if the exit belongs to a list item, which shows it. */
function isListed({ path }: Exit): boolean {
  return typeof path[1] === 'number';
}

/** With more nodes, options are only rendered on focus or hover, because each typed letter would render them again. */
const MAX_READY = 300;

function ExitLinks({ node, exit }: { node: DrawnNode; exit: Exit }) {
  const store = useStore();
  const { kinds } = store;
  // Deferred, so that rendering thousands of options does not delay typing.
  const drawing = useDeferredValue(useEditor(({ history }) => history.present));
  const nodes = nodesOf(drawing);
  const [isWanted, setIsWanted] = useState(false);
  const isReady = isWanted || nodes.size <= MAX_READY;
  const links = linksOf(drawing, kinds);
  const own = links.filter((link) => link.source === node.id && link.handle === exit.handle);
  // A link to an earlier node would close a cycle, which cannot run. Linked nodes remain options, because a person may
  // look for a node that was linked when it was added; choosing it again changes nothing.
  const excluded = new Set([node.id, ...before(links, node.id)]);
  const free = isReady
    ? [...nodes.values()].filter((each) => !excluded.has(each.id) && !isStart(kinds.get(typeOf(each))))
    : [];
  return (
    <div className="connections-exit">
      <Field label={exit.handle === null ? 'Connect to' : `Connect ${exit.label} to`}>
        {(control) => (
          <select
            className="control"
            value=""
            onPointerEnter={() => setIsWanted(true)}
            onFocus={() => setIsWanted(true)}
            onBlur={() => setIsWanted(false)}
            onKeyDown={openWithArrows}
            onChange={({ target }) =>
              store.change(
                connect(store.drawing, kinds, { source: node.id, handle: exit.handle, target: target.value }),
              )
            }
            {...control}
          >
            <option value="">{isReady && free.length === 0 ? 'No other node to connect to' : 'Choose a node…'}</option>
            {free.map((each) => (
              <option key={each.id} value={each.id}>
                {labelOf(each, kinds)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <LinkList links={own} drawing={drawing} />
    </div>
  );
}

function LinkList({ links, drawing }: { links: readonly Link[]; drawing: Drawing }) {
  const store = useStore();
  const { kinds } = store;
  return (
    <ul className="connections-list">
      {links.map((link) => {
        const target = labelOf(nodesOf(drawing).get(link.target), kinds);
        return (
          <li key={link.id}>
            <span aria-hidden="true">→</span>
            <span className="connections-target">
              {target}
              {link.isIdle && ' (drawn only: it does not run)'}
            </span>
            <Button
              variant="quiet"
              aria-label={`Remove link to ${target}`}
              onClick={() => store.change(disconnect(store.drawing, kinds, [link]))}
            >
              <span aria-hidden="true">✕</span>
            </Button>
          </li>
        );
      })}
    </ul>
  );
}

/** `format` of fields with the id of a workflow of the same project. */
const WORKFLOW_ID = 'workflow-id';
/** `format` of fields with the id of a connection of the same project. */
const CONNECTION_ID = 'connection-id';
/** `format` of fields with the name of a pool of the project. */
const POOL = 'pool';
/** `format` of fields that name one or several tools of the MCP server in the sibling fields. */
const MCP_TOOL = 'mcp-tool';

/** Returns the messages of a node's marked problems by field path. */
function useNodeErrors(nodeId: string): ReadonlyMap<string, string> {
  const problems = useEditor((state) => state.marked);
  return useMemo(() => {
    const own = problems.filter((problem) => problem.nodeId === nodeId && problem.path !== '');
    return new Map(own.map(({ path, message }) => [path, message]));
  }, [problems, nodeId]);
}
