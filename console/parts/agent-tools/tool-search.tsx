import { Popover } from 'radix-ui';
import { useState } from 'react';
import { useStore } from '../../drawing/editor-store.js';
import type { JsonObject } from '../../../graph/json.js';
import { FailedChoices } from '../../service/problem.js';
import { useProjectWorkflows } from '../../service/project-workflows.js';
import { Button } from '../../ui/button.js';
import { asText } from '../../ui/json.js';
import { isFound, SearchList, type Choice } from '../../ui/search-list.js';
import { useConnections } from '../connection/connection-calls.js';
import type { Connection } from '../connection/connection-types.js';
import { addressIn, knownServers } from './new-tool.js';
import { toChoice, useActions, type FoundAction } from '../../service/services.js';
import './agent-tools.css';

interface ToolChoice extends Choice {
  type: 'mcp' | 'workflow' | 'action';
  fields: JsonObject;
}

interface AddToolProps {
  projectId: number;
  workflowId: number;
  /** The tools that the agent has. */
  tools: readonly unknown[];
  disabled: boolean;
  onAdd: (type: ToolChoice['type'], fields: JsonObject) => void;
  /** Moves the focus to the added tool. */
  onAdded: () => void;
}

/**
 * The button `Add tool`, which offers MCP servers, connections, workflows and actions. A typed address is offered as a
 * server.
 */
export function AddTool({ disabled, onAdd, onAdded, ...known }: AddToolProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [hasAdded, setHasAdded] = useState(false);
  return (
    <Popover.Root
      open={isOpen}
      onOpenChange={(willOpen) => {
        setHasAdded(false);
        setIsOpen(willOpen);
      }}
    >
      <Popover.Trigger asChild>
        <Button disabled={disabled}>Add tool</Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="search-popover"
          aria-label="Add tool"
          side="bottom"
          align="start"
          sideOffset={8}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            if (!hasAdded) return;
            event.preventDefault();
            onAdded();
          }}
        >
          <Choices
            {...known}
            onAdd={(type, fields) => {
              onAdd(type, fields);
              setHasAdded(true);
              setIsOpen(false);
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Maximum choices of a group. A person finds the others by typing. */
const MOST = 50;

function Choices({ projectId, workflowId, tools, onAdd }: Omit<AddToolProps, 'disabled' | 'onAdded'>) {
  const { drawing } = useStore();
  const [search, setSearch] = useState('');
  const workflows = useProjectWorkflows(projectId);
  const connections = useConnections(projectId);
  const actions = useActions(projectId, search);
  const found = (choices: readonly ToolChoice[]) => choices.filter((choice) => isFound(choice, search)).slice(0, MOST);
  const servers = found(knownServers(drawing, tools).map(toServer));
  const connected = found((connections.data ?? []).map(toConnected));
  const others = found((workflows.data ?? []).filter(({ id }) => id !== workflowId).map(toWorkflow));
  const ofServices = actions.found.map(toAction);
  const typed = atAddress(addressIn(search));
  const count = servers.length + connected.length + others.length + ofServices.length;
  const isLoading = workflows.isPending || connections.isPending || actions.isSearching;
  // A search that finds nothing still offers a server, because each server can be added by its address. Before all
  // results have arrived, Enter would choose the server in place of what is found a moment later.
  const isOffered = isFound(typed, search) || (count === 0 && !isLoading);
  return (
    <SearchList
      label="Search tools"
      listLabel="Tools"
      search={search}
      onSearch={setSearch}
      groups={[
        { label: 'MCP servers', choices: isOffered ? [typed, ...servers] : servers },
        { label: 'Connections', choices: connected },
        { label: 'Workflows', choices: others },
        { label: 'Services', choices: ofServices },
      ]}
      onChoose={({ type, fields }) => onAdd(type, fields)}
    >
      <FailedChoices noun="workflows" query={workflows} />
      <FailedChoices noun="connections" query={connections} />
      <FailedChoices noun="services" query={actions.query} />
    </SearchList>
  );
}

function atAddress(address: string | undefined): ToolChoice {
  const detail = 'Type its address, or choose this and enter it later.';
  const own = { id: 'server', type: 'mcp' } as const;
  if (address === undefined) return { ...own, name: 'MCP server', detail, fields: {} };
  return {
    ...own,
    name: `MCP server at ${address}`,
    detail: 'Its tools are listed.',
    fields: { endpoint_url: address },
  };
}

function toServer(fields: JsonObject, at: number): ToolChoice {
  const address = asText(fields['endpoint_url']) ?? '';
  return { id: `known${at}`, name: address, detail: 'Another node uses it.', type: 'mcp', fields };
}

/** Only connections that were made for a server know its address. */
function toConnected({ id, name, settings }: Connection): ToolChoice {
  const address = asText(settings['server_url']);
  const fields = { connection: id, ...(address !== undefined && { endpoint_url: address }) };
  const detail = address ?? 'An MCP server that takes this credential.';
  return { id: `connection${id}`, name, detail, type: 'mcp', fields };
}

function toAction(found: FoundAction, at: number): ToolChoice {
  return { ...toChoice(found, at), type: 'action' };
}

function toWorkflow({ id, title }: { id: number; title: string }): ToolChoice {
  return {
    id: `workflow${id}`,
    name: title,
    detail: 'Each call starts a run.',
    type: 'workflow',
    fields: { workflow_id: id },
  };
}
