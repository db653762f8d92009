import type { Step } from './result-parts.js';

/** What an agent has done before its answer. */
export function AgentSteps({ steps }: { steps: readonly Step[] }) {
  return (
    <section className="node-part" aria-label="Steps">
      <h3>Steps</h3>
      <ol className="node-steps">
        {steps.map(({ iteration, toolCalls }) => (
          <li key={iteration}>
            <span className="node-step-name">Model call {iteration}</span>
            {toolCalls.length === 0 ? (
              <span>gave the answer</span>
            ) : (
              <ul>
                {toolCalls.map(({ tool, server, outcome }, index) => (
                  // The same tool may be called twice in a step, and the calls keep their order.
                  // oxlint-disable-next-line react/no-array-index-key
                  <li key={index}>
                    called <code>{tool}</code> of {server}: {outcome.replaceAll('_', ' ')}
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
