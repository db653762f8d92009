import { useDeferredValue, useState, type KeyboardEvent } from 'react';
import type { Path } from '../../forms/schema.js';
import { connect, disconnect } from '../../drawing/change-drawing.js';
import { dataOf, isStart, labelOf, nodesOf, typeOf, type DrawnNode } from '../../drawing/drawing.js';
import { before, exitsOf, linksOf, type Exit } from '../../drawing/links.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { Button } from '../../ui/button.js';
import { Field, Hint } from '../../ui/fields.js';

/** Where the node leads to: everything that dragging links does, by keyboard. Its lists show where their items lead to. */
export function Connections({ node }: { node: DrawnNode }) {
  const { kinds } = useStore();
  return (
    <div className="connections">
      {exitsOf(kinds.get(typeOf(node)), dataOf(node))
        .filter((exit) => !isListed(exit))
        .map((exit) => (
          <ExitLinks key={exit.handle ?? ''} node={node} exit={exit} />
        ))}
    </div>
  );
}

/** Where the item of a list at `path`, which is a handle of the node, leads to. */
export function ListedLinks({ node, path }: { node: DrawnNode; path: Path }) {
  const { kinds } = useStore();
  const exits = exitsOf(kinds.get(typeOf(node)), dataOf(node)).filter(isListed);
  const exit = exits.find((each) => each.path[0] === path[0] && each.path[1] === path[1]);
  return exit === undefined ? (
    <Hint>It can lead to a node once it has an ID.</Hint>
  ) : (
    <ExitLinks node={node} exit={exit} />
  );
}

/** These stand with the rest of their item. */
function isListed({ path }: Exit): boolean {
  return typeof path[1] === 'number';
}

/** Of more nodes the list is made when somebody turns to it: it would be made anew for each letter that is typed. */
const MAX_READY = 300;

function ExitLinks({ node, exit }: { node: DrawnNode; exit: Exit }) {
  const store = useStore();
  const { kinds } = store;
  // Typing goes before: thousands of nodes to choose from are drawn when there is time.
  const drawing = useDeferredValue(useEditor(({ history }) => history.present));
  const nodes = nodesOf(drawing);
  const [isWanted, setIsWanted] = useState(false);
  const isReady = isWanted || nodes.size <= MAX_READY;
  const links = linksOf(drawing, kinds);
  const own = links.filter((link) => link.source === node.id && link.handle === exit.handle);
  // A link back would close a circle, which cannot run.
  const taken = new Set([node.id, ...before(links, node.id), ...own.map(({ target }) => target)]);
  const free = isReady
    ? [...nodes.values()].filter((each) => !taken.has(each.id) && !isStart(kinds.get(typeOf(each))))
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
      <ul className="connections-list">
        {own.map((link) => {
          const target = labelOf(nodes.get(link.target), kinds);
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
    </div>
  );
}

/** The arrow keys would choose, and so connect, one node after the other: they open the list instead. */
function openWithArrows(event: KeyboardEvent<HTMLSelectElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  event.preventDefault();
  event.currentTarget.showPicker();
}
