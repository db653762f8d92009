import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap, type paths } from '../../app/api.js';
import { Awaited, Problem } from '../../app/problem.js';
import { useChange } from '../../app/queries.js';
import { CopyButton } from '../../ui/copy-button.js';
import { CheckboxField } from '../../ui/fields.js';

interface ToolSectionProps {
  workflowId: number;
  mayChange: boolean;
}

/** Says whether MCP clients are offered the workflow, and how they get to it. */
export function ToolSection({ workflowId, mayChange }: ToolSectionProps) {
  const { data, error, refetch, isFetching } = useTool(workflowId);
  const change = useChange((isTool: boolean) => offerTool(workflowId, isTool), {
    invalidates: ['tool', 'workflow'],
    said: 'The change is saved.',
  });
  // The choice is shown at once. If it could not be saved, the stored value is shown again.
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
      <Awaited data={data} error={error} refetch={refetch} isFetching={isFetching} />
      <Problem error={change.error} />
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

/** The facts for a person who sets up an MCP client, and what a model is told of the tool. */
function ToolFacts({ tool }: { tool: Tool }) {
  const settings = toClientSettings(tool);
  return (
    <div className="card">
      <div className="start-address">
        <code className="start-url">{tool.url}</code>
        <CopyButton text={tool.url} label="Copy address" />
      </div>
      <dl className="start-facts">
        <dt>Name</dt>
        <dd>
          <code>{tool.name}</code>
        </dd>
        <dt>Description</dt>
        <dd>{tool.description}</dd>
      </dl>
      <ToolText title="Settings of a client" text={settings}>
        <CopyButton text={settings} label="Copy settings" />
      </ToolText>
      <ToolText title="What it takes" text={JSON.stringify(tool.input_schema, null, 2)} />
    </div>
  );
}

function ToolText({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  return (
    <div className="tool-text" role="group" aria-label={title}>
      <div className="starts-head">
        <h3>{title}</h3>
        {children}
      </div>
      {/* The tabindex lets people scroll it by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="tool-json" dir="ltr" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}

const TOOL = '/api/v1/workflows/{id}/tool/';

type Tool = paths[typeof TOOL]['get']['responses'][200]['content']['application/json'];

function useTool(workflowId: number): UseQueryResult<Tool> {
  return useQuery({
    queryKey: ['tool', workflowId],
    queryFn: ({ signal }) => unwrap(api.GET(TOOL, { params: { path: { id: workflowId } }, signal })),
  });
}

function offerTool(workflowId: number, isTool: boolean): Promise<unknown> {
  const params = { path: { id: workflowId } };
  return unwrap(api.PATCH('/api/v1/workflows/{id}/', { params, body: { is_tool: isTool } }));
}

/** Returns the configuration of a server that most MCP clients take. */
function toClientSettings({ url }: Tool): string {
  const server = { type: 'http', url, headers: { Authorization: 'Bearer YOUR_API_KEY' } };
  return JSON.stringify({ mcpServers: { workflows: server } }, null, 2);
}
