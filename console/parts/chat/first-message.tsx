import { useQueryClient } from '@tanstack/react-query';
import { useRef, type ReactNode } from 'react';
import { useUnsent } from '../../service/unsent.js';
import { withoutUploads } from '../run-input/run-input.js';
import { NOTHING_TYPED, useRunInput } from '../run-input/run-input-form.js';
import './chat.css';
import { createConversation, isUnused } from './chat-calls.js';
import type { ChatWorkflow } from './chat-workflow.js';
import { Composer } from './composer.js';

interface FirstMessageProps {
  workflow: ChatWorkflow;
  /** Called before the message is sent. Resolves to false if it cannot be sent; the page then shows why. */
  prepare?: (() => Promise<boolean>) | undefined;
  /** Key of the unsent message; by default that of a new chat with the workflow. */
  draftKey?: string;
  /** Begins the conversation; by default one with the workflow. */
  begin?: () => Promise<string>;
  /** Shown above the field for the message. */
  above?: ReactNode;
  note?: string;
  isBlocked?: boolean;
  /** Each new number gives the field for the message the focus. */
  presses?: number;
  onBegun: (conversationId: string) => void;
}

/**
 * A conversation that begins with its first message. Asks for the fields of the trigger that no message fills in. What
 * is typed into these fields is kept until it is sent (`useUnsent`), like the message.
 */
export function FirstMessage(props: FirstMessageProps) {
  return props.workflow.fields.length === 0 ? (
    <Beginning {...props} inputs={NO_INPUTS} />
  ) : (
    <BeginningWithFields {...props} />
  );
}

const NO_INPUTS = {};

function BeginningWithFields(props: FirstMessageProps) {
  const { id, fields, projectId } = props.workflow;
  const [typed, setTyped, forgetTyped] = useUnsent(`inputs-${props.draftKey ?? id}`, NOTHING_TYPED, withoutUploads);
  const { input, form } = useRunInput({ fields, projectId, kept: [typed, setTyped] });
  const element = useRef<HTMLFormElement>(null);
  return (
    <Beginning
      {...props}
      inputs={input}
      isComplete={() => element.current?.reportValidity() !== false}
      onBegun={(conversationId) => {
        forgetTyped();
        props.onBegun(conversationId);
      }}
    >
      <form className="node-form chat-inputs" ref={element} onSubmit={(event) => event.preventDefault()}>
        <p>These fields go with each message of the conversation.</p>
        {form}
      </form>
    </Beginning>
  );
}

/** A conversation that was created, but its first message was not sent. */
interface Begun {
  /** JSON text. */
  inputs: string;
  id: string;
}

interface BeginningProps extends FirstMessageProps {
  /** Undefined while the input's text is not JSON or a file is uploading. */
  inputs: unknown;
  /** Called before the first message is sent. Returns false if a field is invalid, and shows which. */
  isComplete?: () => boolean;
  children?: ReactNode;
}

function Beginning({
  workflow,
  draftKey = `workflow-${workflow.id}`,
  prepare,
  begin: beginOwn,
  above,
  note = 'Write the first message.',
  isBlocked = false,
  presses,
  onBegun,
  inputs,
  isComplete = () => true,
  children,
}: BeginningProps) {
  const queries = useQueryClient();
  const begun = useRef<Begun>(undefined);
  /** The one that an earlier visit has left. */
  const [left, keep, forget] = useUnsent<Begun | null>(`begun-${draftKey}`, null);
  const begin = async (): Promise<string | undefined> => {
    if (inputs === undefined || !isComplete() || (prepare !== undefined && !(await prepare()))) return undefined;
    if (beginOwn !== undefined) return beginOwn();
    const text = JSON.stringify(inputs);
    if (begun.current?.inputs !== text) {
      // Since that visit, the person may have opened the conversation from the list, and written in it or deleted it.
      const isLeft = left?.inputs === text && (await isUnused(left.id));
      const made = { inputs: text, id: isLeft ? left.id : (await createConversation(workflow.id, inputs)).id };
      begun.current = made;
      keep(() => made);
    }
    return begun.current.id;
  };
  return (
    <>
      <div className="chat-log">
        <div className="chat-log-inner">
          {children}
          <p className="chat-note">{note}</p>
        </div>
      </div>
      <div className="chat-foot">
        {above}
        <Composer
          draftKey={draftKey}
          projectId={workflow.projectId}
          conversation={begin}
          anew={undefined}
          onAnew={() => undefined}
          onSent={async (id) => {
            forget();
            onBegun(id);
            await queries.invalidateQueries({ queryKey: ['conversations', workflow.id] });
          }}
          takesNoFiles={workflow.takesNoFiles}
          isBlocked={isBlocked || inputs === undefined}
          presses={presses}
          stop={undefined}
        />
      </div>
    </>
  );
}
