import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useProjectRole } from '../../service/projects.js';
import { useUser } from '../../service/session.js';
import { Button } from '../../ui/button.js';
import { Time, useNow } from '../../ui/figures.js';
import { Alert, Note } from '../../ui/notices.js';
import { beginningOf } from '../../ui/part-of.js';
import { Status } from '../../ui/status.js';
import { toVisibleJson, toVisibleText } from '../../ui/visible-json.js';
import { isWriting } from '../../ui/writing.js';
import { approvalsOf, outcomeSentence, remainingText, type Approval } from './approvals.js';
import { DecisionForm } from './decision-form.js';
import './requests.css';

interface RequestArticleProps {
  request: Approval;
  /** Called with the reloaded request after the person has sent a decision. The request may still be pending. */
  onChange: (request: Approval) => void;
  /** True if the heading links to the request's own page. */
  isLinked?: boolean;
  /** True where the request is shown beside its node: workflow and node are then neither named nor linked. */
  isHere?: boolean;
}

/** An agent's request: the tool call and its arguments, who started the run, and the decision form or the outcome. */
export function RequestArticle({ request, onChange, isLinked = false, isHere = false }: RequestArticleProps) {
  const id = useId();
  const isWaiting = request.status === 'pending';
  const tool = toVisibleText(request.tool_name);
  const { role, isKnown } = useProjectRole(request.project.id, isWaiting);
  const exclusion = exclusionOf(request, useUser()?.id, role);
  const [problem, setProblem] = useState<string>();
  const [hasDecided, setHasDecided] = useState(false);
  return (
    <article className="card" aria-labelledby={id}>
      <header className="request-head">
        <h2 id={id} className="request-title">
          {isLinked ? <Link href={`/inbox/${encodeURIComponent(request.request_id)}`}>{tool}</Link> : tool}
          <span className="request-server">
            {request.server_label === '' ? ', a workflow' : ` of ${toVisibleText(request.server_label)}`}
          </span>
        </h2>
        <Status status={isWaiting ? 'waiting' : request.status} />
      </header>
      <RequestFacts request={request} isHere={isHere} />
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
          onDecided={(decided, refusal) => {
            setProblem(refusal);
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

/**
 * Explains why the agent's rules exclude the person from deciding. Returns undefined if they do not, or if the role is
 * not known. Viewers are not told about `roles`, because another note says that a viewer cannot decide.
 */
function exclusionOf(
  { requested_by: starter, exclude_starter: isExcluded, roles }: Approval,
  userId: number | undefined,
  role: ReturnType<typeof useProjectRole>['role'],
): string | undefined {
  if (isExcluded && starter.id === userId) return 'You have started this run, so somebody else must decide.';
  if (roles === null || role === undefined || role === 'viewer' || roles.includes(role)) return undefined;
  return `Your role in this project, ${role}, does not allow deciding on this request. Who may: ${roles.join(', ')}.`;
}

interface FocusedOnceProps {
  isFocused: boolean;
  className?: string;
  children: ReactNode;
}

/** Takes the focus once `isFocused` is true, because the pressed button is gone, unless the person is typing. */
export function FocusedOnce({ isFocused, className = 'request-outcome', children }: FocusedOnceProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFocused && !isWriting(document.activeElement)) place.current?.focus({ preventScroll: true });
  }, [isFocused]);
  return (
    <div ref={place} tabIndex={-1} className={className}>
      {children}
    </div>
  );
}

const TICK_MS = 20_000;

/** A request of an agent, or a human task. */
type Asked = Pick<
  Approval,
  'requested_by' | 'workflow' | 'project' | 'run_id' | 'node_id' | 'node_label' | 'path' | 'created_at' | 'expires_at'
> & { status: string };

function isApproval(request: Asked | Approval): request is Approval {
  return 'arguments_hash' in request;
}

interface RequestFactsProps {
  request: Asked | Approval;
  /** True where the request is shown beside its node: workflow and node are then neither named nor linked. */
  isHere?: boolean;
}

export function RequestFacts({ request, isHere = false }: RequestFactsProps) {
  const { requested_by: asker, workflow, project, run_id: runId, node_id: nodeId, path } = request;
  const node = new URLSearchParams({ node: nodeId, ...(path === '' ? {} : { path }) });
  return (
    <dl className="request-facts">
      <dt>Asked by</dt>
      <dd>{asker.name}</dd>
      {!isHere && (
        <>
          <dt>Workflow</dt>
          <dd>
            <Link href={`/workflows/${workflow.id}`}>{workflow.title}</Link> in {project.name}
          </dd>
          <dt>Node</dt>
          <dd>
            <Link href={`/runs/${runId}?${node.toString()}`}>{request.node_label || nodeId}</Link>
            {path !== '' && <> at {path}</>}
          </dd>
        </>
      )}
      <dt>Asked at</dt>
      <dd>
        <Time at={request.created_at} />
      </dd>
      {isApproval(request) && (request.required > 1 || request.edited_arguments !== null) && (
        <>
          <dt>Approvals</dt>
          <dd>
            {approvalsOf(request)} of {request.required}
            <Decisions request={request} />
          </dd>
        </>
      )}
      {request.status === 'pending' && (
        <>
          <dt>Answer until</dt>
          <dd>
            <Time at={request.expires_at} /> <Remaining until={request.expires_at} />
          </dd>
        </>
      )}
    </dl>
  );
}

function Decisions({ request: { decisions, arguments_hash: hash } }: { request: Approval }) {
  if (decisions.length === 0) return null;
  return (
    <ul aria-label="Decisions">
      {decisions.map((made) => (
        <li key={`${made.decided_by.id} ${made.decided_at}`}>
          {made.decided_by.name} {made.decision} <Time at={made.decided_at} />
          {made.arguments_hash !== hash && ', of earlier arguments'}
          {made.reason !== '' && `: ${made.reason}`}
        </li>
      ))}
    </ul>
  );
}

function Remaining({ until }: { until: string }) {
  const now = useNow(TICK_MS);
  return <strong className="request-remaining">{remainingText(Date.parse(until), now)}</strong>;
}

const MOST_LINES = 24;
const MOST_CHARACTERS = 1_500;
const COUNT = new Intl.NumberFormat();

/** Arguments as JSON with hidden characters escaped. A long text is cut until the person presses `Show all`. */
function ArgumentsText({ title, value }: { title: string; value: unknown }) {
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  const text = useMemo(() => toVisibleJson(value), [value]);
  const part = beginningOf(text, MOST_LINES, MOST_CHARACTERS);
  const isCut = !isOpen && !part.isWhole;
  return (
    <section className="request-arguments" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <pre className="request-json" dir="ltr">
        {isCut ? part.text : text}
      </pre>
      {!part.isWhole && (
        <p className="request-cut">
          {isCut && (
            <span>
              {COUNT.format(part.text.length)} of {COUNT.format(text.length)} characters are shown.
            </span>
          )}
          <Button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? 'Show less' : 'Show all'}
          </Button>
        </p>
      )}
    </section>
  );
}

function Outcome({ request }: { request: Approval }) {
  const user = useUser();
  return (
    <>
      <p>
        <strong>{outcomeSentence(request, user?.id)}</strong>{' '}
        {request.decided_at !== null && <Time at={request.decided_at} />}
      </p>
      {request.reason !== '' && <p className="request-reason">Reason: {request.reason}</p>}
    </>
  );
}
