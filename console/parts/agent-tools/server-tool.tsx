import { use, useEffect, useEffectEvent, useState } from 'react';
import { FormContext, useFieldError, type SchemaFieldProps } from '../../forms/form.js';
import { onlyFields, withoutFields } from '../../forms/layers.js';
import { Layers, Properties } from '../../forms/schema-field.js';
import type { Path } from '../../forms/schema.js';
import { Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { CheckboxField, TextField } from '../../ui/fields.js';
import { asArray, asObject, asText } from '../../ui/json.js';
import { Note } from '../../ui/notices.js';
import { askOf, asksFor, namedTools, policySentence, withAsk } from './approval-policy.js';
import { useMcpTools, type ListedTools } from './mcp-tools.js';
import { labelFor, withLabel } from './new-tool.js';

interface ServerToolProps extends Omit<SchemaFieldProps, 'label'> {
  workflowId: number;
  nodeId: string;
  /** The agent's other tools. */
  others: readonly unknown[];
  /** True for a server that was just added: its tools are listed at once. */
  isNew: boolean;
}

const LISTED = ['allowed_tools', 'require_approval'];
const FIRST = ['endpoint_url', 'server_label'];

/** A server: its address, and which of its tools the agent may call. */
export function ServerTool({ schema, path, value, onChange, workflowId, nodeId, others, isNew }: ServerToolProps) {
  const server = asObject(value);
  const listed = useMcpTools({ workflowId, nodeId }, server);
  const listAtOnce = useEffectEvent(() => {
    if (isNew && listed.isPossible) listed.list();
  });
  useEffect(() => listAtOnce(), []);
  const change = (at: Path, written: unknown): void => {
    const address = asText(server['endpoint_url']) ?? '';
    const follows = [labelFor(address, others), ''].includes(asText(server['server_label']) ?? '');
    if (at.at(-1) !== 'endpoint_url' || !follows) return onChange(at, written);
    return onChange(path, withLabel({ ...server, endpoint_url: written }, others));
  };
  return (
    <>
      <Properties schema={onlyFields(schema, FIRST)} path={path} value={server} onChange={change} />
      <ToolChoice path={path} server={server} listed={listed} onChange={onChange} />
      <Layers
        schema={withoutFields(schema, ['type', ...FIRST, ...LISTED])}
        path={path}
        value={server}
        isRest
        onChange={onChange}
      />
    </>
  );
}

interface ToolChoiceProps {
  path: Path;
  server: Readonly<Record<string, unknown>>;
  listed: ListedTools;
  onChange: (path: Path, value: unknown) => void;
}

function ToolChoice({ path, server, listed, onChange }: ToolChoiceProps) {
  const { isReadOnly } = use(FormContext);
  const [allowedPath, policyPath] = [
    [...path, 'allowed_tools'],
    [...path, 'require_approval'],
  ];
  const error = useFieldError(allowedPath);
  const { allowed_tools: allowed, require_approval: policy } = server;
  const names = Array.isArray(allowed) ? asArray(allowed).flatMap((name) => asText(name) ?? []) : undefined;
  const offered = listed.tools ?? [];
  // Names that the server no longer lists stay visible, so that they can be removed.
  const shown = [...new Set([...offered.map(({ name }) => name), ...(names ?? []), ...namedTools(policy)])];
  const isAllowed = (name: string): boolean => names === undefined || names.includes(name);
  const allow = (next: readonly string[]): void => {
    const isAll = offered.length > 0 && shown.every((name) => next.includes(name));
    onChange(allowedPath, isAll ? undefined : shown.filter((name) => next.includes(name)));
  };
  const ask = askOf(policy, shown.filter(isAllowed));
  return (
    <div className="server-tools" data-path={allowedPath.join('.')}>
      {!isReadOnly && (
        <Button disabled={!listed.isPossible} isBusy={listed.isPending} onClick={listed.list}>
          List tools
        </Button>
      )}
      <Problem error={listed.error} />
      {listed.tools?.length === 0 && <Note>The server has no tools.</Note>}
      <div className="server-tools-row">
        {shown.length > 0 ? (
          <CheckboxField
            label="All tools"
            isChecked={names === undefined}
            isMixed={names !== undefined && names.length > 0}
            onChange={() => onChange(allowedPath, names === undefined ? [] : undefined)}
          />
        ) : (
          <p className="field-hint">The agent may call all tools of the server. List them to choose some.</p>
        )}
        <CheckboxField
          label="Ask before calling"
          isChecked={ask === 'all'}
          isMixed={ask === 'some'}
          onChange={() => onChange(policyPath, ask === 'all' ? 'never' : 'always')}
        />
      </div>
      {shown.length > 0 && (
        <ul className="server-tools-list" aria-label="Tools of the server">
          {shown.map((name) => (
            <li key={name} className="server-tools-row">
              <CheckboxField
                label={name}
                hint={offered.find((tool) => tool.name === name)?.description}
                isChecked={isAllowed(name)}
                onChange={(isChosen) =>
                  allow(
                    isChosen
                      ? [...shown.filter(isAllowed), name]
                      : shown.filter((each) => each !== name && isAllowed(each)),
                  )
                }
              />
              {isAllowed(name) && (
                <CheckboxField
                  label={
                    <>
                      Ask<span className="hidden-text"> before calling {name}</span>
                    </>
                  }
                  isChecked={asksFor(policy, name)}
                  onChange={(asks) => onChange(policyPath, withAsk(policy, shown, name, asks))}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {listed.error !== null && listed.error !== undefined && !isReadOnly && (
        <ToolByName onAdd={(name) => onChange(allowedPath, [...new Set([...(names ?? []), name])])} />
      )}
      {error !== undefined && <p className="field-error">{error}</p>}
      <p className="field-hint">
        {names?.length === 0 && 'No tool is chosen: the agent calls none of this server. '}
        {policySentence(policy, shown.filter(isAllowed))}
      </p>
    </div>
  );
}

/** Enters the name of a tool by hand. Shown after the service could not list the tools of the server. */
function ToolByName({ onAdd }: { onAdd: (name: string) => void }) {
  const [name, setName] = useState('');
  const add = (): void => {
    if (name.trim() === '') return;
    onAdd(name.trim());
    setName('');
  };
  return (
    <div className="tool-by-name">
      <TextField
        label="Name of a tool"
        spellCheck={false}
        value={name}
        onChange={setName}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault();
          add();
        }}
      />
      <Button onClick={add}>Add name</Button>
    </div>
  );
}
