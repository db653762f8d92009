import { useState } from 'react';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { CheckboxField } from '../../../ui/fields.js';
import { Loading } from '../../../ui/notices.js';
import { ToolFacts } from './tool-facts.js';
import { offerTool, useTool } from './use-tool.js';

interface ToolSectionProps {
  workflowId: number;
  mayChange: boolean;
}

/** Whether MCP clients are offered the workflow, and how they get to it. */
export function ToolSection({ workflowId, mayChange }: ToolSectionProps) {
  const { data, error, refetch, isFetching } = useTool(workflowId);
  const change = useChange((isTool: boolean) => offerTool(workflowId, isTool), {
    invalidates: ['tool', 'workflow'],
    said: 'The change is saved.',
  });
  // What was chosen shows at once, and what the service says shows again where it could not be saved.
  const [chosen, setChosen] = useState<boolean>();
  const isTool = chosen ?? data?.is_tool === true;
  const choose = (next: boolean): void => {
    setChosen(next);
    change.mutate(next, { onSettled: () => setChosen(undefined) });
  };
  return (
    <section className="starts-section" aria-labelledby="tool-heading">
      <h2 id="tool-heading">Tool</h2>
      <p className="starts-lead">
        Assistants and agents that speak the Model Context Protocol can call the workflow as a tool: a call is a run,
        and what the run puts out is the answer.
      </p>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      <Problem error={change.error} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <>
          <CheckboxField
            label="Offer as MCP tool"
            hint={
              mayChange
                ? 'To everybody who may run the workflow and has an API key.'
                : 'Editors of the project offer tools.'
            }
            isChecked={isTool}
            onChange={choose}
            disabled={!mayChange}
          />
          {isTool && <ToolFacts tool={data} />}
        </>
      )}
    </section>
  );
}
