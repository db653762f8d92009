import { useState, type ComponentProps } from 'react';
import { startValue } from '../drawing/change-drawing.js';
import type { JsonObject } from '../../graph/json.js';
import { asArray, asObject, asText } from '../ui/json.js';
import { SuggestionsField, VariableText } from '../forms/fields.js';
import { focusField } from '../forms/focus.js';
import { useFieldError } from '../forms/form.js';
import { isSet, onlyFields, withoutFields } from '../forms/layers.js';
import { InMore, ItemButtons, Layers, Properties } from '../forms/schema-field.js';
import { propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { Button } from '../ui/button.js';
import { RequiredMark } from '../ui/fields.js';
import { approvalSentence } from './approval-sentence.js';
import './kinds.css';

interface ModelFormProps {
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

/** Form of kinds that call a language model: the model and its messages. */
export function ModelForm({ schema, data, onChange }: ModelFormProps) {
  const settings = propertiesOf(schema)['settings'] ?? {};
  const field = { path: ['settings'], value: data['settings'], onChange };
  return (
    <>
      <Properties schema={onlyFields(settings, ['model_name'])} {...field} />
      <Chat schema={propertiesOf(schema)['messages'] ?? {}} value={data['messages']} onChange={onChange} />
      <Layers schema={withoutFields(schema, ['messages', 'settings'])} path={[]} value={data} onChange={onChange} />
      <Approvals schema={onlyFields(settings, APPROVAL)} {...field} />
      <Layers schema={withoutFields(settings, ['model_name', ...APPROVAL])} {...field} isRest />
    </>
  );
}

/** The settings of an agent for tool calls that need a person's approval. */
const APPROVAL = ['approval', 'approval_timeout', 'on_reject'];

/** Open at first only if one of its fields is set. A text above the fields explains the rules. */
function Approvals({ schema, path, value, onChange }: ComponentProps<typeof Properties>) {
  const [isOpen] = useState(() => APPROVAL.some((key) => isSet(schema, key, asObject(value))));
  if (Object.keys(propertiesOf(schema)).length === 0) return null;
  return (
    <details className="form-more" open={isOpen || undefined}>
      <summary>Approvals</summary>
      <div className="form-more-fields">
        <p className="field-hint">{approvalSentence(schema, asObject(value))}</p>
        <InMore value>
          <Properties schema={schema} path={path} value={value} onChange={onChange} />
        </InMore>
      </div>
    </details>
  );
}

interface ChatProps {
  schema: JsonObject;
  value: unknown;
  onChange: (path: Path, value: unknown) => void;
}

const WHOLE: Path = ['messages'];

function Chat({ schema, value, onChange }: ChatProps) {
  const error = useFieldError(WHOLE);
  const messages = asArray(value);
  const item = asObject(schema['items']);
  const { role = {}, message = {} } = propertiesOf(item);
  const { description: _seen, ...plainRole } = role;
  const { description: _known, ...plainMessage } = message;
  const files = onlyFields(item, ['files']);
  const change = (next: readonly unknown[]): void => onChange(WHOLE, next);
  return (
    <fieldset className="chat" data-path="messages">
      <legend className="form-legend">
        {titleOf(schema, 'messages')}
        <RequiredMark />
      </legend>
      {messages.map((each, at) => {
        const current = asObject(each);
        const word = asText(current['role']) ?? '';
        return (
          <div key={at} className="chat-message" role="group" aria-label={`Message ${at + 1}`} data-role={word}>
            <div className="chat-head">
              <SuggestionsField
                schema={plainRole}
                path={[...WHOLE, at, 'role']}
                label={titleOf(role, 'role')}
                value={current['role']}
                isRequired
                onChange={onChange}
              />
              <ItemButtons name={`message ${at + 1}`} at={at} items={messages} onChange={change} />
            </div>
            <VariableText
              schema={plainMessage}
              path={[...WHOLE, at, 'message']}
              label={titleOf(message, 'message')}
              value={current['message']}
              isRequired
              isLong
              onChange={onChange}
            />
            <MessageFiles schema={files} path={[...WHOLE, at]} value={current} onChange={onChange} />
          </div>
        );
      })}
      {error !== undefined && <p className="field-error">{error}</p>}
      <Button
        onClick={() => {
          change([...messages, { ...asObject(startValue(item)), role: nextRole(messages) }]);
          focusField(`messages.${messages.length}.message`);
        }}
      >
        Add message
      </Button>
    </fieldset>
  );
}

/** Shows only a button until the person adds files. */
function MessageFiles(props: ComponentProps<typeof Properties>) {
  const [isOpen, setIsOpen] = useState(false);
  if (isOpen || asObject(props.value)['files'] !== undefined) return <Properties {...props} />;
  return <Button onClick={() => setIsOpen(true)}>Add files</Button>;
}

/** Returns the role of an added message, so that user and assistant alternate. */
function nextRole(messages: readonly unknown[]): string {
  return asObject(messages.at(-1))['role'] === 'user' ? 'assistant' : 'user';
}
