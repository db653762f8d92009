import { Popover } from 'radix-ui';
import { use, useState } from 'react';
import type { JsonObject } from '../../../graph/json.js';
import { FormContext, type SchemaFieldProps } from '../../forms/form.js';
import { Layers } from '../../forms/schema-field.js';
import { FailedChoices } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Hint } from '../../ui/fields.js';
import { asObject, asText } from '../../ui/json.js';
import { SearchList } from '../../ui/search-list.js';
import { ActionHead, ActionProblem, factsOf } from './action-head.js';
import { toChoice, useAction, useActions } from '../../service/services.js';

/** `format` of the field that names the action of a service. */
export const ACTION = 'action';

interface ActionFieldProps extends Pick<SchemaFieldProps, 'path' | 'value' | 'onChange'> {
  projectId: number;
  /** The data of the node, in which `values` has the values of the action's fields. */
  data: JsonObject;
}

/**
 * Selects an action of a service by a search, then shows a form of the action's fields. The action replaces the method,
 * address, headers and body of the node.
 */
export function ActionField({ projectId, data, path, value, onChange }: ActionFieldProps) {
  const { isReadOnly } = use(FormContext);
  const { service, id } = asObject(value);
  const [serviceId, actionId] = [asText(service), asText(id)];
  const {
    url: _url,
    method: _method,
    headers: _headers,
    body: _body,
    action: _action,
    values: _values,
    ...rest
  } = data;
  const choose = (chosen: JsonObject): void => onChange([], { ...rest, action: chosen, values: {} });
  if (serviceId === undefined || actionId === undefined)
    return isReadOnly ? null : <ChooseAction projectId={projectId} onChoose={choose} />;
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">Action</legend>
      <ActionValues
        {...{ projectId, serviceId, actionId }}
        stored={asObject(value)}
        value={data['values']}
        onChange={onChange}
      />
      {!isReadOnly && (
        <Button
          variant="quiet"
          className="action-leave"
          onClick={() => onChange([], { ...rest, method: 'GET', url: '' })}
        >
          Use an address instead
        </Button>
      )}
    </fieldset>
  );
}

interface ActionValuesProps extends Pick<SchemaFieldProps, 'value' | 'onChange'> {
  projectId: number;
  serviceId: string;
  actionId: string;
  /** The facts of the action as stored in the node, shown unless the service has returned the action. */
  stored: JsonObject;
}

function ActionValues({ projectId, serviceId, actionId, stored, value, onChange }: ActionValuesProps) {
  const action = useAction(serviceId, actionId);
  const { title, method, path, description, fields } = factsOf(action.data ?? stored);
  const isStored = asText(stored['title']) !== undefined && stored['refresh'] !== true;
  return (
    <>
      <ActionProblem
        action={action}
        paths={[['action']]}
        onRefresh={isStored ? () => onChange(['action'], { ...stored, refresh: true }) : undefined}
      />
      <ActionHead {...{ projectId, serviceId }} title={title ?? actionId} />
      {method !== undefined && <Hint>{`${method} ${path ?? ''}${description ? `. ${description}` : ''}`}</Hint>}
      {fields !== undefined && <Layers schema={fields} path={['values']} value={value} onChange={onChange} />}
    </>
  );
}

function ChooseAction({ projectId, onChoose }: { projectId: number; onChoose: (action: JsonObject) => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const [search, setSearch] = useState('');
  const actions = useActions(projectId, search);
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger asChild>
        <Button variant="quiet">Use an action</Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="search-popover"
          aria-label="Use an action"
          side="bottom"
          align="start"
          sideOffset={8}
          collisionPadding={8}
        >
          <SearchList
            label="Search services"
            listLabel="Actions"
            search={search}
            onSearch={setSearch}
            groups={[{ label: 'Services', choices: actions.found.map(toChoice) }]}
            onChoose={({ fields }) => onChoose(fields)}
          >
            <Hint>Type the name of a service, such as Slack, or what is to be done.</Hint>
            <FailedChoices noun="services" query={actions.query} />
          </SearchList>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
