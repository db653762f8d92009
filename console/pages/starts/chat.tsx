import { useState } from 'react';
import { api, unwrap } from '../../app/api.js';
import { Problem } from '../../app/problem.js';
import { useChange } from '../../app/queries.js';
import { ButtonLink } from '../../ui/button.js';
import { CheckboxField } from '../../ui/fields.js';

interface ChatSectionProps {
  workflowId: number;
  /** As it is stored. */
  isChat: boolean;
  mayChange: boolean;
}

/** Says whether people talk with the workflow, and leads to the chat. */
export function ChatSection({ workflowId, isChat: stored, mayChange }: ChatSectionProps) {
  const change = useChange((isChat: boolean) => offerChat(workflowId, isChat), {
    invalidates: ['workflow'],
    said: 'The change is saved.',
  });
  // The choice is shown at once. If it could not be saved, the stored value is shown again.
  const [chosen, setChosen] = useState<boolean>();
  const isChat = chosen ?? stored;
  const choose = (next: boolean): void => {
    setChosen(next);
    change.mutate(next, { onSettled: () => setChosen(undefined) });
  };
  return (
    <section className="starts-section" aria-labelledby="chat-heading">
      <h2 id="chat-heading">Chat</h2>
      <p className="starts-lead">
        People talk with the workflow here, and clients of chat completions know it as the model{' '}
        <code>workflow:{workflowId}</code>: each message is a run, and what the run puts out is the answer.
      </p>
      <Problem error={change.error} />
      <CheckboxField
        label="Offer as chat"
        hint={mayChange ? 'To everybody who may run the workflow.' : 'Editors of the project offer chats.'}
        isChecked={isChat}
        onChange={choose}
        disabled={!mayChange}
      />
      {isChat && (
        <p>
          <ButtonLink to={`/workflows/${workflowId}/chat`}>Open the chat</ButtonLink>
        </p>
      )}
    </section>
  );
}

function offerChat(workflowId: number, isChat: boolean): Promise<unknown> {
  const params = { path: { id: workflowId } };
  return unwrap(api.PATCH('/api/v1/workflows/{id}/', { params, body: { is_chat: isChat } }));
}
