import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Alert } from '../../ui/alert.js';
import { Note } from '../../ui/note.js';
import { Status } from '../../ui/status.js';
import type { Approval } from './approval-types.js';
import { ArgumentsText } from './arguments-text.js';
import { DecisionForm } from './decision-form.js';
import './inbox.css';
import { Outcome } from './outcome.js';
import { RequestFacts } from './request-facts.js';
import { useProjectRole } from './use-project-role.js';
import { toVisibleText } from './visible-json.js';

interface RequestArticleProps {
  request: Approval;
  /** The request after a decision, of the person or of somebody else before. */
  onChange: (request: Approval) => void;
  /** Whether the heading leads to the request's own page. */
  isLinked?: boolean;
}

/** One request: what would be called with what, who asks, and the decision or how it has ended. */
export function RequestArticle({ request, onChange, isLinked = false }: RequestArticleProps) {
  const id = useId();
  const isWaiting = request.status === 'pending';
  const tool = toVisibleText(request.tool_name);
  const { role, isKnown } = useProjectRole(request.project.id, isWaiting);
  const [problem, setProblem] = useState<string>();
  const [hasDecided, setHasDecided] = useState(false);
  return (
    <article className="request" aria-labelledby={id}>
      <header className="request-head">
        <h2 id={id} className="request-title">
          {isLinked ? <Link href={`/inbox/${encodeURIComponent(request.request_id)}`}>{tool}</Link> : tool}
          <span className="request-server"> of {toVisibleText(request.server_label)}</span>
        </h2>
        <Status status={isWaiting ? 'waiting' : request.status} />
      </header>
      <RequestFacts request={request} />
      <ArgumentsText value={request.arguments} />
      {isWaiting && role === 'viewer' && (
        <Note>
          Your role in this project, viewer, does not allow deciding. An editor, admin or owner can approve or reject.
        </Note>
      )}
      {isWaiting && role !== 'viewer' && (
        <DecisionForm
          request={request}
          disabled={!isKnown}
          onDecided={(decided, said) => {
            setProblem(said);
            setHasDecided(true);
            onChange(decided);
          }}
        />
      )}
      {problem !== undefined && <Alert>{problem}</Alert>}
      {!isWaiting && (
        <FocusedOnce isFocused={hasDecided}>
          <Outcome request={request} />
        </FocusedOnce>
      )}
    </article>
  );
}

/** The buttons that had the focus are gone: the keyboard goes on at the outcome. */
function FocusedOnce({ isFocused, children }: { isFocused: boolean; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFocused) place.current?.focus({ preventScroll: true });
  }, [isFocused]);
  return (
    <div ref={place} tabIndex={-1} className="request-outcome">
      {children}
    </div>
  );
}
