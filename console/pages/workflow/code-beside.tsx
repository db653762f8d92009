import { isObject, ownValue, type JsonObject } from '../../../graph/json.js';
import { beginningOf } from '../../drawing/variable-tree.js';
import type { KnownVariables, SchemaFieldProps } from '../../forms/form.js';
import { Button } from '../../ui/button.js';
import { Hint } from '../../ui/fields.js';
import { asText } from '../../ui/json.js';
import type { Path } from '../../forms/schema.js';
import { inputsFrom } from './code-inputs.js';
import { TryButton } from './test-run/try-button.js';
import { useTest } from './test-run/use-tests.js';

const EXAMPLE = `// What it reads stands under Inputs, what it returns becomes the result.
const names = Object.keys(inputs);
console.log('inputs', names);
return { names };
`;

interface CodeBesideProps extends Pick<SchemaFieldProps, 'path' | 'value' | 'onChange'> {
  workflowId: number;
  nodeId: string;
  data: JsonObject;
  isReadOnly: boolean;
  variables: KnownVariables;
}

/** Shown beside the large code editor: the inputs, a button that tests the node, what the code printed and returned. */
export function CodeBeside(props: CodeBesideProps) {
  const { workflowId, nodeId, data, isReadOnly, variables, path, value, onChange } = props;
  const inputs = isObject(data['inputs']) ? data['inputs'] : {};
  const isEmpty = Object.keys(inputs).length === 0;
  const fill = (): void => onChange(INPUTS, inputsFrom(variables.groups()));
  return (
    <>
      {!isReadOnly && (
        <div className="test-result-line">
          <TryButton workflowId={workflowId} nodeId={nodeId} isInDialog />
          {(asText(value) ?? '').trim() === '' && (
            <Button onClick={() => onChange(path, EXAMPLE)}>Write an example</Button>
          )}
        </div>
      )}
      <section className="code-beside" aria-label="Inputs">
        <h3>Inputs</h3>
        {isEmpty && <Hint>The code reads nothing yet.</Hint>}
        <dl className="code-inputs">
          {Object.entries(inputs).map(([name, given]) => (
            <div key={name}>
              <dt>inputs.{name}</dt>
              <dd>{variables.preview(given) ?? asText(given) ?? JSON.stringify(given)}</dd>
            </div>
          ))}
        </dl>
        {isEmpty && !isReadOnly && <Button onClick={fill}>Fill from the nodes before</Button>}
      </section>
      <Output nodeId={nodeId} />
    </>
  );
}

const INPUTS: Path = ['inputs'];

/** The console output and the returned value of the last execution of the code. */
function Output({ nodeId }: { nodeId: string }) {
  const entry = useTest((state) => state.results.get(nodeId)?.entry);
  const logs = ownValue(entry?.result, 'logs');
  const hasEnded = entry?.status === 'succeed' || entry?.status === 'failed';
  return (
    <section className="code-beside" aria-label="Console">
      <h3>Console</h3>
      {!hasEnded && <Hint>{entry === undefined ? 'It has not run yet.' : 'It is running.'}</Hint>}
      {Array.isArray(logs) && logs.length > 0 && <pre className="code-console">{logs.map(String).join('\n')}</pre>}
      {entry?.status === 'failed' && <p className="field-error">{entry.error?.message ?? 'It failed.'}</p>}
      {entry?.status === 'succeed' && (
        <p>
          Returned <code>{beginningOf(ownValue(entry.result, 'value'))}</code>
        </p>
      )}
    </section>
  );
}
