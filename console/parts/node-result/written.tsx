import { parseStructure } from '../../ui/json.js';
import type { NodeWords, ToolCall } from '../../live/words.js';
import { toVisibleJson, toVisibleText } from '../../ui/visible-json.js';
import './content-view.css';
import './written.css';

interface WrittenProps {
  words: NodeWords;
  /** Whether the attempt has failed in which this was written. */
  hasFailed: boolean;
}

/**
 * What the model of a node in progress has written in its last call. It stands where its result will stand, and is shown
 * as text, because Markdown that is not complete yet would change its form from word to word.
 */
export function Written({ words: { attempt, step, text, isCut, toolCalls }, hasFailed }: WrittenProps) {
  const place = [...(step > 0 ? [`model call ${step + 1}`] : []), ...(attempt > 1 ? [`attempt ${attempt}`] : [])];
  const state = hasFailed ? 'not completed: the attempt has failed' : toolCalls.length > 0 ? 'written' : 'writing';
  return (
    <section className="content" aria-label="Written so far">
      <p className={`written-state written-state-${state === 'writing' ? 'live' : 'still'}`}>
        {[state, ...place].join(', ')}
      </p>
      {isCut && <p className="content-part">Only the end of the text is shown.</p>}
      {text !== '' && <div className="content-markdown written-text">{text}</div>}
      {toolCalls.length > 0 && (
        <ul className="node-steps" aria-label="Tool calls">
          {toolCalls.map((call, index) => (
            // Nothing forbids a model to give two calls one id, and the calls keep their order.
            // oxlint-disable-next-line react/no-array-index-key
            <Call key={index} call={call} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Call({ call: { name, arguments: given } }: { call: ToolCall }) {
  const value = parseStructure(given);
  return (
    <li>
      wants to call <code>{toVisibleText(name)}</code>
      <pre className="node-step-text">{value === undefined ? toVisibleText(given) : toVisibleJson(value)}</pre>
    </li>
  );
}
