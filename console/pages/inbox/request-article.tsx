import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useUser } from '../../app/session.js';
import { Alert, Note } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { toVisibleText } from '../../ui/visible-json.js';
import type { Approval } from './approval-types.js';
import { ArgumentsText } from './arguments-text.js';
import { DecisionForm } from './decision-form.js';
import './inbox.css';
import { Outcome } from './outcome.js';
import { RequestFacts } from './request-facts.js';
import { useProjectRole } from './use-project-role.js';

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
  const exclusion = exclusionOf(request, useUser()?.id, role);
  const [problem, setProblem] = useState<string>();
  const [hasDecided, setHasDecided] = useState(false);
  return (
    <article className="request" aria-labelledby={id}>
      <header className="request-head">
        <h2 id={id} className="request-title">
          {isLinked ? <Link href={`/inbox/${encodeURIComponent(request.request_id)}`}>{tool}</Link> : tool}
          <span className="request-server">
            {request.server_label === '' ? ', a workflow' : ` of ${toVisibleText(request.server_label)}`}
          </span>
        </h2>
        <Status status={isWaiting ? 'waiting' : request.status} />
      </header>
      <RequestFacts request={request} />
      <ArgumentsText title="Arguments" value={request.edited_arguments ?? request.arguments} />
      {request.edited_arguments !== null && (
        <ArgumentsText title="What the model asked for" value={request.arguments} />
      )}
      {isWaiting && role === 'viewer' && (
        <Note>
          Your role in this project, viewer, does not allow deciding. An editor, admin or owner can approve or reject.
        </Note>
      )}
      {isWaiting && exclusion !== undefined && <Note>{exclusion}</Note>}
      {isWaiting && role !== 'viewer' && exclusion === undefined && (
        <DecisionForm
          request={request}
          disabled={!isKnown}
          onChange={onChange}
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

/** Why the rules of the agent do not let the person decide; undefined where they do, and for who may only read. */
function exclusionOf(
  { requested_by: starter, exclude_starter: isExcluded, roles }: Approval,
  userId: number | undefined,
  role: ReturnType<typeof useProjectRole>['role'],
): string | undefined {
  if (isExcluded && starter.id === userId) return 'You have started this run, so somebody else must decide.';
  if (roles === null || role === undefined || role === 'viewer' || roles.includes(role)) return undefined;
  return `Your role in this project, ${role}, does not allow deciding on this request. Who may: ${roles.join(', ')}.`;
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
