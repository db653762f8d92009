import { Problem } from '../../service/problem.js';
import { ButtonLink } from '../../ui/button.js';
import { CheckboxField } from '../../ui/fields.js';
import { useOffer } from './offer.js';

interface ChatSectionProps {
  workflowId: number;
  /** The value that the service has stored. */
  isChat: boolean;
  mayChange: boolean;
}

/** Offers the workflow as a chat, with a link to it. */
export function ChatSection({ workflowId, isChat: stored, mayChange }: ChatSectionProps) {
  const { isOffered, error, choose } = useOffer(workflowId, { field: 'is_chat', stored, invalidates: ['workflow'] });
  return (
    <section className="starts-section" aria-labelledby="chat-heading">
      <h2 id="chat-heading">Chat</h2>
      <p className="starts-lead">
        People talk with the workflow here, and clients of chat completions know it as the model{' '}
        <code>workflow:{workflowId}</code>: each message is a run, and what the run puts out is the answer.
      </p>
      <Problem error={error} />
      <CheckboxField
        label="Offer as chat"
        hint={mayChange ? 'To everybody who may run the workflow.' : 'Editors of the project offer chats.'}
        isChecked={isOffered}
        onChange={choose}
        disabled={!mayChange}
      />
      {isOffered && (
        <p>
          <ButtonLink to={`/workflows/${workflowId}/chat`}>Open the chat</ButtonLink>
        </p>
      )}
    </section>
  );
}
