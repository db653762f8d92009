import { useMutation } from '@tanstack/react-query';
import { use } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import { isEqualJson, type JsonObject } from '../../../graph/json.js';
import { asArray, asText } from '../../ui/json.js';
import { nodesOf } from '../../drawing/drawing.js';
import { useEditor } from '../../drawing/editor-store.js';
import { FormContext, type SchemaFieldProps } from '../../forms/form.js';
import { Properties } from '../../forms/schema-field.js';
import { typesOf } from '../../forms/schema.js';
import { Button } from '../../ui/button.js';
import { Note } from '../../ui/notices.js';
import './editor.css';

type Route = paths['/api/v1/workflows/mcp-tools/']['post'];
type Asked = NonNullable<Route['requestBody']>['content']['application/json'];

interface McpToolFieldProps extends SchemaFieldProps {
  workflowId: number;
  nodeId: string;
  /** The sibling fields: address and connection of the server. */
  server: JsonObject;
}

/** Field for one or several tools of an MCP server. Queries the server for its tools on a click. */
export function McpToolField({ workflowId, nodeId, server, ...field }: McpToolFieldProps) {
  const { schema, path, label, value, isRequired = false, onChange } = field;
  const { isReadOnly } = use(FormContext);
  const isStored = useEditor(({ saved }) => nodesOf(saved).has(nodeId));
  const asked = toRequest(server, isStored ? { workflow_id: workflowId, node_id: nodeId } : {});
  const list = useMutation({
    mutationFn: (body: Asked) => unwrap(api.POST('/api/v1/workflows/mcp-tools/', { body })),
  });
  // The answer only applies to the server that was asked, not to a changed address.
  const isCurrent = list.variables !== undefined && isEqualJson(list.variables, asked);
  const tools = isCurrent ? (list.data ?? []) : [];
  const key = String(path.at(-1));
  const { format: _ofThisField, ...plain } = schema;
  const names = asArray(value);
  const isList = typesOf(schema).includes('array');
  const isChosen = (name: string): boolean => (isList ? names.includes(name) : value === name);
  const choose = (name: string): void => {
    if (!isList) return onChange(path, name);
    const left = isChosen(name) ? names.filter((each) => each !== name) : [...names, name];
    return onChange(path, left.length === 0 ? undefined : left);
  };
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
          <Button
            disabled={asText(server['endpoint_url']) === undefined || server['endpoint_url'] === ''}
            isBusy={list.isPending}
            onClick={() => list.mutate(asked)}
          >
            List tools
          </Button>
          {isCurrent && <Problem error={list.error} />}
          {isCurrent && list.data?.length === 0 && <Note>The server has no tools.</Note>}
          {tools.length > 0 && (
            <ul className="mcp-tools-list" aria-label="Tools of the server">
              {tools.map((tool) => {
                const name = asText(tool['name']) ?? '';
                return (
                  <li key={name}>
                    <Button aria-pressed={isChosen(name)} onClick={() => choose(name)}>
                      {name}
                    </Button>
                    <span className="mcp-tools-description">{asText(tool['description'])}</span>
                  </li>
                );
              })}
            </ul>
          )}
        </div>
      )}
    </>
  );
}

/** `stored` lets the service use the stored headers, which are masked here. The service validates the values. */
function toRequest(server: JsonObject, stored: Pick<Asked, 'workflow_id' | 'node_id'>): Asked {
  const { endpoint_url, transport, headers, timeout, connection } = server;
  const fields = { endpoint_url, transport, headers, timeout, connection };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), ...stored } as unknown as Asked;
}
