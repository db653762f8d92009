import type { SchemaFieldProps } from '../../forms/form.js';
import type { JsonObject } from '../../../graph/json.js';
import { useAction } from '../../service/services.js';
import { asObject, asText } from '../../ui/json.js';
import { ConnectionField } from '../connection/connection-field.js';
import { factsOf } from './action-head.js';

type ActionConnectionProps = SchemaFieldProps & {
  projectId: number;
  /** The data of the node, or the tool of an agent, that the connection is for. */
  owner: JsonObject;
};

/** The connection of a node or tool. For an action, only connections that cover the action's server are offered. */
export function ActionConnectionField({ owner, ...field }: ActionConnectionProps) {
  const isTool = owner['type'] === 'action';
  const { service, id } = isTool ? owner : asObject(owner['action']);
  const serviceId = asText(service) ?? '';
  const action = useAction(serviceId, asText(id) ?? '');
  const { server } = factsOf(action.data ?? asObject(owner['action']));
  return <ConnectionField {...field} server={server} service={serviceId} />;
}
