import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { CopyButton } from '../../ui/copy-button.js';
import { CheckboxField } from '../../ui/fields.js';
import { useOffer } from './offer.js';

interface ToolSectionProps {
  workflowId: number;
  mayChange: boolean;
}

/** Offers the workflow to MCP clients, with connection details. */
export function ToolSection({ workflowId, mayChange }: ToolSectionProps) {
  const { data, error, refetch, isFetching } = useTool(workflowId);
  const {
    isOffered,
    error: problem,
    choose,
  } = useOffer(workflowId, { field: 'is_tool', stored: data?.is_tool, invalidates: ['tool', 'workflow'] });
  return (
    <section className="starts-section" aria-labelledby="tool-heading">
      <h2 id="tool-heading">Tool</h2>
      <p className="starts-lead">
        Assistants and agents that speak the Model Context Protocol can call the workflow as a tool: a call is a run,
        and what the run puts out is the answer.
      </p>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      <Problem error={problem} />
      {data !== undefined && (
        <>
          <CheckboxField
            label="Offer as MCP tool"
            hint={
              mayChange
                ? 'To everybody who may run the workflow and has an API key.'
                : 'Editors of the project offer tools.'
            }
            isChecked={isOffered}
            onChange={choose}
            disabled={!mayChange}
          />
          {isOffered && <ToolFacts tool={data} />}
        </>
      )}
    </section>
  );
}

/** Connection details for MCP clients, and the tool's description for models. */
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
      {/* Focusable, so that keyboard users can scroll it. */}
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

/** Returns the server configuration in the format of most MCP clients. */
function toClientSettings({ url }: Tool): string {
  const server = { type: 'http', url, headers: { Authorization: 'Bearer YOUR_API_KEY' } };
  return JSON.stringify({ mcpServers: { workflows: server } }, null, 2);
}
