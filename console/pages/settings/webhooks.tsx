import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, unwrap, type paths } from '../../service/api.js';
import { ConfirmChange } from '../../service/confirm-change.js';
import { fieldErrors } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { changeProject, mayAct, type Project } from '../../service/projects.js';
import { useChange, submitHandler } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { NewSecret } from '../../ui/copy-button.js';
import { CheckboxField, TextField } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { Pager, Table, type Column } from '../../ui/table.js';

export function WebhooksTab({ project }: { project: Project }) {
  const isAdmin = mayAct(project.role, 'admin');
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        The project can tell an address of yours when a run starts and ends, and when an agent asks for approval.
        Requests are signed as Standard Webhooks describes, and repeated for three days until they are answered with
        2xx.
      </p>
      {isAdmin ? (
        <>
          <EndpointForm project={project} />
          <SigningSecret projectId={project.id} />
        </>
      ) : (
        <Note>
          {project.is_webhook_enabled && project.webhook_url !== '' ? (
            <>Events go to {project.webhook_url}. </>
          ) : (
            'Events are sent nowhere. '
          )}
          Your role in this project is {project.role}. Its admins and owners change this.
        </Note>
      )}
      <Deliveries projectId={project.id} maySendAgain={isAdmin} />
    </div>
  );
}

function EndpointForm({ project }: { project: Project }) {
  // The form began with these values, or last saved them. `project` may be newer.
  const [before, setBefore] = useState(project);
  const [url, setUrl] = useState(project.webhook_url);
  const [isEnabled, setIsEnabled] = useState(project.is_webhook_enabled);
  // Sends changed fields only, because somebody else may have changed the other one in the meantime.
  const fields = {
    ...(url.trim() !== before.webhook_url && { webhook_url: url.trim() }),
    ...(isEnabled !== before.is_webhook_enabled && { is_webhook_enabled: isEnabled }),
  };
  const change = useChange(() => changeProject(project.id, fields), {
    invalidates: ['projects', 'deliveries'],
    announcement: 'The webhook is saved.',
    onSuccess: (saved) => {
      setBefore(saved);
      setUrl(saved.webhook_url);
      setIsEnabled(saved.is_webhook_enabled);
    },
  });
  const errors = fieldErrors(change.error);
  return (
    <form className="settings-form" noValidate onSubmit={submitHandler(change)}>
      <Problem error={change.error} fields={['webhook_url', 'is_webhook_enabled']} />
      <div className="settings-row">
        <TextField
          label="Webhook URL"
          hint="It must be reachable from the service, and answer with 2xx within 15 seconds."
          type="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={2048}
          value={url}
          onChange={setUrl}
          error={errors['webhook_url']}
        />
        <Button variant="primary" type="submit" isBusy={change.isPending}>
          Save
        </Button>
      </div>
      <CheckboxField
        label="Send events"
        hint="If you switch this off, events that were not delivered yet are dropped."
        isChecked={isEnabled}
        onChange={setIsEnabled}
        error={errors['is_webhook_enabled']}
      />
    </form>
  );
}

/** Replaces the secret with which receivers verify signatures. Shows the new one once. */
function SigningSecret({ projectId }: { projectId: number }) {
  const [isAsking, setIsAsking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const change = useChange(
    () => unwrap(api.POST('/api/v1/projects/{id}/webhook-secret/', { params: { path: { id: projectId } } })),
    {
      invalidates: [],
      announcement: 'There is a new signing secret. Copy it now: it is shown once.',
      onSuccess: (made) => {
        setSecret(made.webhook_secret);
        setIsAsking(false);
      },
    },
  );
  return (
    <>
      <p>
        <Button onClick={() => setIsAsking(true)}>New signing secret</Button>
      </p>
      {secret !== undefined && (
        <NewSecret
          key={secret}
          title="Your new signing secret"
          text={secret}
          copyLabel="Copy secret"
          onDone={() => setSecret(undefined)}
        />
      )}
      {isAsking && (
        <ConfirmChange
          title="New signing secret"
          confirmLabel="Make secret"
          change={change}
          onClose={() => setIsAsking(false)}
        >
          <p>Requests are signed with it at once, and for 24 hours with the secret before, too.</p>
        </ConfirmChange>
      )}
    </>
  );
}

interface DeliveriesProps {
  projectId: number;
  maySendAgain: boolean;
}

function Deliveries({ projectId, maySendAgain }: DeliveriesProps) {
  const [page, setPage] = useState(1);
  const { data, error, refetch, isFetching } = useDeliveries(projectId, page);
  const change = useChange((deliveryId: string) => sendAgain(projectId, deliveryId), {
    invalidates: ['deliveries'],
    announcement: 'The event is sent once more.',
  });
  const columns = columnsOf(maySendAgain ? (id) => change.mutate(id) : undefined, change.isPending);
  return (
    <section className="settings-tab" aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <Problem error={change.error} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <>
          <Table
            label="Deliveries"
            hasCards
            columns={columns}
            rows={data.items}
            keyOf={({ id }) => id}
            empty="No event has been sent. With an address that is switched on, the next run sends one."
          />
          <Pager page={page} size={data.size} total={data.total} onPage={setPage} />
        </>
      )}
    </section>
  );
}

function columnsOf(onSendAgain: ((id: string) => void) | undefined, isBusy: boolean): Column<Delivery>[] {
  return [
    { heading: 'Event', cell: ({ type }) => <code>{type}</code>, isName: true },
    {
      heading: 'Run',
      cell: ({ run_id: id }) => (id === null ? '–' : <Link href={`/runs/${id}`}>{id.slice(0, 8)}</Link>),
    },
    { heading: 'Status', cell: ({ status }) => <Status status={status} /> },
    { heading: 'Attempts', cell: ({ attempts }) => attempts, isFigure: true },
    { heading: 'Last answer', cell: answerOf },
    { heading: 'Created', cell: (row) => <Time at={row.created_at} /> },
    { heading: 'Next attempt', cell: (row) => <Time at={row.next_attempt_at} /> },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: ({ id, status }) =>
        onSendAgain === undefined || status === 'pending' ? null : (
          <Button variant="quiet" disabled={isBusy} onClick={() => onSendAgain(id)}>
            Send again
          </Button>
        ),
    },
  ];
}

function answerOf({ response_status: status, error }: Delivery): string {
  return [status === null ? undefined : String(status), error].filter(Boolean).join(', ') || '–';
}

type List = paths['/api/v1/projects/{id}/webhook-deliveries/']['get']['responses'][200]['content']['application/json'];
type Delivery = List['items'][number];

const POLL_EVERY_MS = 5_000;
const PAGE_SIZE = 20;

/** Polled, because deliveries change while the page is open. */
function useDeliveries(projectId: number, page: number): UseQueryResult<List> {
  return useQuery({
    queryKey: ['deliveries', projectId, page],
    queryFn: ({ signal }) => {
      const params = { path: { id: projectId }, query: { page, size: PAGE_SIZE } };
      return unwrap(api.GET('/api/v1/projects/{id}/webhook-deliveries/', { params, signal }));
    },
    refetchInterval: POLL_EVERY_MS,
    placeholderData: (before) => before,
  });
}

function sendAgain(projectId: number, deliveryId: string): Promise<Delivery> {
  const path = { id: projectId, delivery_id: deliveryId };
  return unwrap(api.POST('/api/v1/projects/{id}/webhook-deliveries/{delivery_id}/send-again/', { params: { path } }));
}
