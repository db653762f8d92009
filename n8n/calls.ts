// Execute Sub-workflow.
import { namedIn } from './agents.js';
import { isObject, type JsonObject } from '../graph/json.js';
import { textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { wholePlace } from './places.js';

export function translateCall(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const source = textOf(parameters['source']) ?? 'database';
  if (source !== 'database') throw new NotTranslatable(`its workflow comes from "${source}"`);
  if ((parameters['mode'] ?? 'once') === 'each') at.warnOfItems();
  const mapped = valueAt(parameters, 'workflowInputs', 'value');
  const input =
    isObject(mapped) && Object.keys(mapped).length > 0 ? (at.value(mapped, 'workflowInputs') as JsonObject) : whole(at);
  at.warn(`Choose the workflow that it runs${namedIn(parameters['workflowId'])}: ids of n8n mean nothing here.`);
  const doesWait = valueAt(parameters, 'options', 'waitForSubWorkflow') !== false;
  const id = at.add('workflow', { input, wait: doesWait });
  if (!doesWait) return oneWay(id, at.json);
  return oneWay(id, at.uncertain(wholePlace(`${id}.result.output`, `${id}.result.run_id`, at.around.order)));
}

/** Without named inputs n8n hands over everything. The fields of an object can be named, those of a variable cannot. */
function whole(at: NodeTranslation): JsonObject {
  const json = at.wholeJson;
  if (isObject(json)) return json;
  at.warn('Name what it hands over under "input": n8n hands over whatever comes in, whose fields are not known.');
  return {};
}
