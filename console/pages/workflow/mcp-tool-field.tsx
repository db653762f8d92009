import { use } from 'react';
import type { JsonObject } from '../../../graph/json.js';
import { FormContext, type SchemaFieldProps } from '../../forms/form.js';
import { Properties } from '../../forms/schema-field.js';
import { useMcpTools } from '../../parts/agent-tools/mcp-tools.js';
import { Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Note } from '../../ui/notices.js';
import './editor.css';

interface McpToolFieldProps extends SchemaFieldProps {
  workflowId: number;
  nodeId: string;
  /** The object with this field and its siblings, such as the address and connection of the server. */
  server: JsonObject;
}

/** Field for a tool of an MCP server. Queries the server for its tools on a click. */
export function McpToolField({ workflowId, nodeId, server, ...field }: McpToolFieldProps) {
  const { schema, path, label, value, isRequired = false, onChange } = field;
  const { isReadOnly } = use(FormContext);
  const { tools, error, isPending, isPossible, list } = useMcpTools({ workflowId, nodeId }, server);
  const key = String(path.at(-1));
  const { format: _ofThisField, ...plain } = schema;
  return (
    <>
      <Properties
        schema={{ properties: { [key]: { ...plain, title: label } }, required: isRequired ? [key] : [] }}
        path={path.slice(0, -1)}
        value={server}
        onChange={onChange}
      />
      {!isReadOnly && (
        <div className="mcp-tools">
          <Button disabled={!isPossible} isBusy={isPending} onClick={list}>
            List tools
          </Button>
          <Problem error={error} />
          {tools?.length === 0 && <Note>The server has no tools.</Note>}
          {tools !== undefined && tools.length > 0 && (
            <ul className="mcp-tools-list" aria-label="Tools of the server">
              {tools.map(({ name, description }) => (
                <li key={name}>
                  <Button aria-pressed={value === name} onClick={() => onChange(path, name)}>
                    {name}
                  </Button>
                  <span className="mcp-tools-description">{description}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </>
  );
}
