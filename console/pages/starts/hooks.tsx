import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap, type paths } from '../../app/api.js';
import { readAllPages } from '../../app/calls.js';
import { ConfirmDelete } from '../../app/confirm-change.js';
import { fieldErrors } from '../../app/explain.js';
import { Awaited, Problem } from '../../app/problem.js';
import { useChange } from '../../app/queries.js';
import { Button } from '../../ui/button.js';
import { CopyButton, NewSecret } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';

type Open = { dialog: 'new' } | { dialog: 'secret' | 'delete'; hook: Hook };

interface HooksSectionProps {
  workflowId: number;
  mayChange: boolean;
}

/** The addresses at which other services start runs of the workflow. */
export function HooksSection({ workflowId, mayChange }: HooksSectionProps) {
  const { data, error, refetch, isFetching } = useHooks(workflowId);
  const [open, setOpen] = useState<Open>();
  const [shown, setShown] = useState<ShownHook>();
  const close = (): void => setOpen(undefined);
  const secret = shown?.secret;
  return (
    <section className="starts-section" aria-labelledby="hooks-heading">
      <div className="starts-head">
        <h2 id="hooks-heading">Hooks</h2>
        {mayChange && <Button onClick={() => setOpen({ dialog: 'new' })}>New hook</Button>}
      </div>
      <p className="starts-lead">
        A hook is a URL to which another service posts its events. Each event starts a run, whose input is the body.
      </p>
      {shown !== undefined && secret !== undefined && (
        <NewSecret
          key={secret}
          title={`Signing secret of hook ${shown.id}`}
          text={secret}
          copyLabel="Copy secret"
          onDone={() => setShown(undefined)}
        />
      )}
      <Awaited data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.length === 0 && <p className="starts-empty">The workflow has no hooks.</p>}
      {!mayChange && data !== undefined && data.length > 0 && (
        <Note>Your role in this project is viewer. Its editors see the URLs, and make and delete hooks.</Note>
      )}
      {data?.map((hook) => (
        <HookArticle
          key={hook.id}
          hook={hook}
          mayChange={mayChange}
          onReplace={() => setOpen({ dialog: 'secret', hook })}
          onDelete={() => setOpen({ dialog: 'delete', hook })}
        />
      ))}
      {open?.dialog === 'new' && <NewHookDialog workflowId={workflowId} onClose={close} onMade={setShown} />}
      {open?.dialog === 'secret' && (
        <ReplaceSecretDialog workflowId={workflowId} of={open.hook} onClose={close} onReplaced={setShown} />
      )}
      {open?.dialog === 'delete' && (
        <ConfirmDelete
          noun="hook"
          remove={() => deleteHook(workflowId, open.hook.id)}
          invalidates={['hooks']}
          onClose={close}
        >
          The URL of hook {open.hook.id} is unknown from then on, and what is sent to it is lost. It never comes back: a
          new hook has another URL.
        </ConfirmDelete>
      )}
    </section>
  );
}

interface HookArticleProps {
  hook: Hook;
  mayChange: boolean;
  onReplace: () => void;
  onDelete: () => void;
}

function HookArticle({ hook, mayChange, onReplace, onDelete }: HookArticleProps) {
  const heading = `hook-${hook.id}`;
  return (
    <article className="card" aria-labelledby={heading}>
      <div className="starts-head">
        <h3 id={heading}>Hook {hook.id}</h3>
        <span className="start-kind">{signatureOf(hook)}</span>
      </div>
      {hook.url !== undefined && (
        <div className="start-address">
          <code className="start-url">{hook.url}</code>
          <CopyButton text={hook.url} label="Copy URL" />
        </div>
      )}
      {hook.inactive_reason !== null && (
        <p className="start-problem">
          It starts no runs: {hook.author.name} may not run the workflow any more. Delete it and make a new one, or give
          the role back.
        </p>
      )}
      <dl className="start-facts">
        <dt>Starts runs as</dt>
        <dd>{hook.author.name}</dd>
        <dt>Made</dt>
        <dd>
          <Time at={hook.created_at} />
        </dd>
        <dt>Last delivery</dt>
        <dd>
          {hook.last_delivery === null ? (
            'None yet'
          ) : (
            <>
              <Time at={hook.last_delivery.at} />, {outcomeOf(hook.last_delivery.status)}
            </>
          )}
        </dd>
      </dl>
      {mayChange && (
        <div className="start-buttons">
          {hook.verify !== 'none' && (
            <Button variant="quiet" onClick={onReplace}>
              Replace secret
            </Button>
          )}
          <Button variant="quiet" onClick={onDelete}>
            Delete
          </Button>
        </div>
      )}
    </article>
  );
}

interface NewHookDialogProps {
  workflowId: number;
  onClose: () => void;
  onMade: (hook: ShownHook) => void;
}

function NewHookDialog({ workflowId, onClose, onMade }: NewHookDialogProps) {
  const [fields, setFields] = useState<HookFields>(NEW_HOOK);
  const isLater = fields.signature === 'stripe';
  // A secret that a person has typed is known to them, and Stripe makes its secrets itself.
  const isShown = fields.signature !== 'none' && fields.secret === '' && !isLater;
  const change = useChange(() => makeHook(workflowId, toBody(fields)), {
    invalidates: ['hooks'],
    said: isShown ? 'The hook is made. Copy its secret now: it is shown once.' : 'The hook is made.',
    onSuccess: (hook) => {
      if (isShown) onMade(hook);
      onClose();
    },
  });
  const errors = fieldErrors(change.error);
  const set = (changed: Partial<HookFields>): void => setFields({ ...fields, ...changed });
  const submit = (): void => {
    if (!change.isPending) change.mutate();
  };
  const chosen = SIGNATURES.find(({ value }) => value === fields.signature) ?? SIGNATURES[0];
  return (
    <Dialog
      title="New hook"
      onClose={onClose}
      holdsText
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={submit}>
          Make hook
        </Button>
      }
    >
      <Problem error={change.error} fields={['header', 'secret']} />
      <SelectField
        label="Signature"
        hint={chosen?.hint}
        value={fields.signature}
        options={SIGNATURES}
        onChange={(value) => set({ signature: SIGNATURES.find((one) => one.value === value)?.value ?? 'none' })}
      />
      {fields.signature === 'hmac-sha256' && (
        <TextField
          label="Header"
          autoComplete="off"
          value={fields.header}
          onChange={(header) => set({ header })}
          error={errors['header']}
          maxLength={100}
          isRequired
        />
      )}
      {fields.signature !== 'none' && (
        <SecretField
          {...(isLater && { ifEmpty: 'give it to the hook with Replace secret as soon as you have it.' })}
          value={fields.secret}
          onChange={(secret) => set({ secret })}
          error={errors['secret']}
          onSubmit={submit}
        />
      )}
    </Dialog>
  );
}

interface ReplaceSecretDialogProps {
  workflowId: number;
  of: Hook;
  onClose: () => void;
  onReplaced: (hook: ShownHook) => void;
}

function ReplaceSecretDialog({ workflowId, of, onClose, onReplaced }: ReplaceSecretDialogProps) {
  const [secret, setSecret] = useState('');
  const change = useChange(() => replaceSecret(workflowId, of.id, secret === '' ? null : secret), {
    invalidates: ['hooks'],
    said: 'The secret is replaced.',
    onSuccess: (hook) => {
      // A person who has typed the secret knows it.
      if (secret === '') onReplaced(hook);
      onClose();
    },
  });
  const submit = (): void => {
    if (!change.isPending) change.mutate();
  };
  return (
    <Dialog
      title="Replace secret"
      onClose={onClose}
      holdsText
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={submit}>
          Replace secret
        </Button>
      }
    >
      <p>What is signed with the secret of now is refused from then on. The URL stays the same.</p>
      <Problem error={change.error} fields={['secret']} />
      <SecretField value={secret} onChange={setSecret} error={fieldErrors(change.error)['secret']} onSubmit={submit} />
    </Dialog>
  );
}

interface SecretFieldProps {
  /** The end of the hint, which says what happens if the field is empty. */
  ifEmpty?: string;
  value: string;
  onChange: (secret: string) => void;
  error: string | undefined;
  onSubmit: () => void;
}

const MADE = 'a new one is made, and shown once.';

function SecretField({ ifEmpty = MADE, value, onChange, error, onSubmit }: SecretFieldProps) {
  return (
    <TextField
      label="Secret"
      hint={`One that the sender has already. Empty: ${ifEmpty}`}
      type="password"
      autoComplete="new-password"
      value={value}
      onChange={onChange}
      error={error}
      maxLength={500}
      onKeyDown={({ key }) => key === 'Enter' && onSubmit()}
    />
  );
}

// The signatures of senders, in the words of people who set them up.

const GITHUB_HEADER = 'X-Hub-Signature-256';
const STRIPE_HEADER = 'Stripe-Signature';

/** An entry of the combobox. Two of them are the same scheme with a header of their own. */
type Signature = 'standard-webhooks' | 'github' | 'stripe' | 'hmac-sha256' | 'none';

const SIGNATURES: readonly { value: Signature; label: string; hint: string }[] = [
  {
    value: 'standard-webhooks',
    label: 'Standard Webhooks',
    hint: 'Many services sign like this: OpenAI, Svix, and this one.',
  },
  { value: 'github', label: 'GitHub', hint: `HMAC-SHA256 in the header ${GITHUB_HEADER}.` },
  {
    value: 'stripe',
    label: 'Stripe',
    hint: 'Stripe makes the secret itself, and shows it once it knows the URL.',
  },
  {
    value: 'hmac-sha256',
    label: 'HMAC-SHA256 in another header',
    hint: 'The value is sha256= and hexadecimal digits.',
  },
  {
    value: 'none',
    label: 'None',
    hint: 'Whoever knows the URL can start runs. Choose this only where nothing else works.',
  },
];

interface HookFields {
  signature: Signature;
  header: string;
  secret: string;
}

const NEW_HOOK: HookFields = { signature: 'standard-webhooks', header: GITHUB_HEADER, secret: '' };

function toBody({ signature, header, secret }: HookFields): HookBody {
  const own = secret === '' ? {} : { secret };
  if (signature === 'none') return { verify: 'none' };
  if (signature === 'standard-webhooks') return { verify: 'standard-webhooks', ...own };
  const named: Partial<Record<Signature, string>> = { github: GITHUB_HEADER, stripe: STRIPE_HEADER };
  return { verify: 'hmac-sha256', header: named[signature] ?? header, ...own };
}

/** Returns words such as `Signed as GitHub does`. */
function signatureOf({ verify, header }: Pick<Hook, 'verify' | 'header'>): string {
  if (verify === 'none') return 'Not signed';
  if (verify === 'standard-webhooks') return 'Signed as Standard Webhooks';
  const name = header?.toLowerCase();
  if (name === GITHUB_HEADER.toLowerCase()) return 'Signed as GitHub does';
  if (name === STRIPE_HEADER.toLowerCase()) return 'Signed as Stripe does';
  return `Signed by HMAC-SHA256 in ${header}`;
}

const OUTCOMES: Partial<Record<number, string>> = {
  202: 'started a run, or was known already',
  400: 'refused: its body cannot be read as text',
  401: 'refused: its signature was missing, wrong or too old',
  403: 'refused: the author may not run the workflow',
  422: 'refused: the workflow does not take its input',
};

function outcomeOf(status: number): string {
  return OUTCOMES[status] ?? `answered with ${status}`;
}

const HOOKS = '/api/v1/workflows/{id}/hooks/';
const HOOK = '/api/v1/workflows/{id}/hooks/{hook_id}/';

type Hooks = paths[typeof HOOKS];
type Hook = Hooks['get']['responses'][200]['content']['application/json']['items'][number];
type HookBody = NonNullable<Hooks['post']['requestBody']>['content']['application/json'];
/** A hook with its secret, if it asks for signatures. */
type ShownHook = Hooks['post']['responses'][201]['content']['application/json'];

/** A workflow has at most 20. */
function useHooks(workflowId: number): UseQueryResult<Hook[]> {
  return useQuery({
    queryKey: ['hooks', workflowId],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET(HOOKS, { params: { path: { id: workflowId }, query: { page, size: 100 } }, signal })),
      ),
  });
}

function makeHook(workflowId: number, body: HookBody): Promise<ShownHook> {
  return unwrap(api.POST(HOOKS, { params: { path: { id: workflowId } }, body }));
}

/** If the secret is null, the service makes a new one. */
function replaceSecret(workflowId: number, hookId: number, secret: string | null): Promise<ShownHook> {
  const path = { id: workflowId, hook_id: hookId };
  return unwrap(api.PATCH(HOOK, { params: { path }, body: { secret } }));
}

function deleteHook(workflowId: number, hookId: number): Promise<unknown> {
  return unwrap(api.DELETE(HOOK, { params: { path: { id: workflowId, hook_id: hookId } } }));
}
