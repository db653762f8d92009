import { use, useRef, useState } from 'react';
import { FormContext, useFieldError, type SchemaFieldProps } from '../../forms/form.js';
import { ItemButtons } from '../../forms/schema-field.js';
import type { JsonObject } from '../../../graph/json.js';
import { useProjectWorkflows } from '../../service/project-workflows.js';
import { asArray, asObject, asText } from '../../ui/json.js';
import { ActionTool } from './action-tool.js';
import './agent-tools.css';
import { newTool, schemaOfType } from './new-tool.js';
import { ServerTool } from './server-tool.js';
import { AddTool } from './tool-search.js';
import { WorkflowTool } from './workflow-tool.js';

/** `format` of the list of an agent's tools. */
export const AGENT_TOOLS = 'agent-tools';

interface AgentToolsProps extends SchemaFieldProps {
  projectId: number;
  workflowId: number;
  nodeId: string;
}

/** The tools of an agent: MCP servers with their tools, workflows, and actions of services. */
export function AgentTools({ projectId, workflowId, nodeId, ...field }: AgentToolsProps) {
  const { schema, path, label, value, onChange } = field;
  const error = useFieldError(path);
  const { isReadOnly } = use(FormContext);
  const group = useRef<HTMLFieldSetElement>(null);
  const [added, setAdded] = useState<JsonObject>();
  const tools = asArray(value);
  const isFull = typeof schema['maxItems'] === 'number' && tools.length >= schema['maxItems'];
  const change = (next: readonly unknown[]): void => onChange(path, next);
  const nameOf = useToolNames(projectId);
  return (
    <fieldset className="form-group agent-tools" data-path={path.join('.')} ref={group}>
      <legend className="form-legend">{label}</legend>
      {tools.length === 0 && <p className="field-hint">The agent has no tools. It can only answer by its messages.</p>}
      {tools.map((each, at) => {
        const tool = asObject(each);
        const name = nameOf(tool);
        const own = {
          schema: schemaOfType(schema, asText(tool['type']) ?? ''),
          path: [...path, at],
          value: tool,
          onChange,
        };
        return (
          <fieldset className="form-item" key={at} data-path={[...path, at].join('.')}>
            <legend className="form-legend">{name}</legend>
            {tool['type'] === 'workflow' && <WorkflowTool {...own} />}
            {tool['type'] === 'mcp' && (
              <ServerTool
                {...own}
                workflowId={workflowId}
                nodeId={nodeId}
                others={tools.toSpliced(at, 1)}
                isNew={each === added}
              />
            )}
            {tool['type'] === 'action' && <ActionTool projectId={projectId} {...own} />}
            {!isReadOnly && <ItemButtons name={name} at={at} items={tools} onChange={change} />}
          </fieldset>
        );
      })}
      {error !== undefined && <p className="field-error">{error}</p>}
      <AddTool
        projectId={projectId}
        workflowId={workflowId}
        tools={tools}
        disabled={isFull}
        onAdd={(type, fields) => {
          const tool = newTool(schema, type, fields, tools);
          setAdded(tool);
          change([...tools, tool]);
        }}
        onAdded={() => focusLast(group.current)}
      />
    </fieldset>
  );
}

/** Focuses the first control of the last tool. */
function focusLast(group: HTMLElement | null): void {
  const items = group?.querySelectorAll<HTMLElement>(':scope > .form-item') ?? [];
  items[items.length - 1]?.querySelector<HTMLElement>('input, select, textarea, [contenteditable="true"]')?.focus();
}

function useToolNames(projectId: number): (tool: JsonObject) => string {
  const workflows = useProjectWorkflows(projectId);
  return (tool) => {
    if (tool['type'] === 'mcp') return asText(tool['server_label']) || 'MCP server';
    if (asText(tool['name'])) return String(tool['name']);
    if (tool['type'] === 'workflow')
      return workflows.data?.find(({ id }) => id === tool['workflow_id'])?.title ?? 'Workflow';
    // An action is named by its service and its id.
    return ['service', 'id'].flatMap((key) => asText(tool[key]) || []).join(': ') || 'Tool';
  };
}
