import { parseStructure } from '../../ui/json.js';
import type { NodeWords, ToolCall } from '../../live/words.js';
import { toVisibleJson, toVisibleText } from '../../ui/visible-json.js';
import './content-view.css';
import './written.css';

interface WrittenProps {
  words: NodeWords;
  /** True if the attempt that wrote this has failed. */
  hasFailed: boolean;
}

/**
 * Live output of the last model call of a node in progress, in the place of its result. Shown as plain text, because
 * incomplete Markdown would change its form with each word.
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
            // A model may give two calls the same id; the order of calls is stable.
            // oxlint-disable-next-line react/no-array-index-key
            <Call key={index} call={call} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Call({ call: { name, arguments: text } }: { call: ToolCall }) {
  const value = parseStructure(text);
  return (
    <li>
      wants to call <code>{toVisibleText(name)}</code>
      <pre className="node-step-text">{value === undefined ? toVisibleText(text) : toVisibleJson(value)}</pre>
    </li>
  );
}
