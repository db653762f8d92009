import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { Problem } from '../../service/problem.js';
import { useChange } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Alert } from '../../ui/notices.js';
import { changeConnection, CONNECTIONS, createConnection, useConnections, usePresets } from './connection-calls.js';
import type { Connection, ConnectionKind, Preset } from './connection-types.js';
import {
  fieldsOf,
  KINDS,
  needsSignIn,
  newFields,
  placeholdersOf,
  problemsOf,
  refusalsOf,
  toBody,
  withPlaceholders,
  type FieldProblems,
} from './connection-fields.js';
import { ConnectionForm } from './connection-form.js';
import './connections.css';
import { ServiceSearch } from './service-search.js';
import { useSignIn } from './sign-in.js';

interface NewConnectionDialogProps {
  projectId: number;
  /** The id of the service to start with. Ignored if there is no preset with this id. */
  service?: string | undefined;
  onClose: () => void;
  /** Called when the connection is stored, before a sign-in that may follow. */
  onMade?: (connection: Connection) => void;
}

/** Creates a connection in steps: select the service, fill in the form, sign in if needed. */
export function NewConnectionDialog({ projectId, service, onClose, onMade }: NewConnectionDialogProps) {
  const presets = usePresets();
  const [chosen, setChosen] = useState<Preset | ConnectionKind | 'another'>();
  const from = chosen === 'another' ? undefined : (chosen ?? presets.data?.find(({ id }) => id === service));
  const [made, setMade] = useState<Connection>();
  if (made !== undefined) return <SignInDialog projectId={projectId} connection={made} onClose={onClose} />;
  if (from === undefined) {
    return (
      <Dialog title="New connection" onClose={onClose}>
        <ServiceSearch onChoose={setChosen} />
      </Dialog>
    );
  }
  return (
    <FormDialog
      projectId={projectId}
      from={from}
      onBack={() => setChosen('another')}
      onClose={onClose}
      onSaved={(connection) => {
        onMade?.(connection);
        if (needsSignIn(connection.kind)) setMade(connection);
        else onClose();
      }}
    />
  );
}

interface EditConnectionDialogProps {
  projectId: number;
  connection: Connection;
  onClose: () => void;
}

/** Edits a connection. A change of its addresses revokes the authorization, so a sign-in may follow. */
export function EditConnectionDialog({ projectId, connection, onClose }: EditConnectionDialogProps) {
  const [moved, setMoved] = useState<Connection>();
  if (moved !== undefined) return <SignInDialog projectId={projectId} connection={moved} onClose={onClose} />;
  const asksToSignIn = ({ status }: Connection): boolean =>
    status === 'needs_authorization' && connection.status !== 'needs_authorization';
  return (
    <FormDialog
      projectId={projectId}
      of={connection}
      onClose={onClose}
      onSaved={(saved) => (asksToSignIn(saved) ? setMoved(saved) : onClose())}
    />
  );
}

interface FormDialogProps {
  projectId: number;
  /** Service or kind of a new connection. */
  from?: Preset | ConnectionKind;
  of?: Connection;
  onBack?: () => void;
  onClose: () => void;
  onSaved: (connection: Connection) => void;
}

function FormDialog({ projectId, from = 'bearer', of, onBack, onClose, onSaved }: FormDialogProps) {
  const preset = of !== undefined || typeof from === 'string' ? undefined : from;
  const usedNames = (useConnections(projectId).data ?? []).map(({ name }) => name);
  const [fields, setFields] = useState(() => (of === undefined ? newFields(from, usedNames) : fieldsOf(of)));
  const [placeholders, setPlaceholders] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries((preset === undefined ? [] : placeholdersOf(preset)).map((name) => [name, ''])),
  );
  const [own, setOwn] = useState<FieldProblems>({});
  const form = useRef<HTMLFormElement>(null);
  const formId = useId();
  const change = useChange(
    () => {
      const body = toBody(fields);
      return of === undefined
        ? createConnection(projectId, fields.kind, body)
        : changeConnection(projectId, of.id, body);
    },
    {
      invalidates: [CONNECTIONS],
      announcement: of === undefined ? 'The connection is made.' : 'The connection is changed.',
      onSuccess: onSaved,
    },
  );
  useFirstField(form);
  const refused = refusalsOf(change.error);
  const problems = { ...refused, ...own };
  useFirstProblem(form, problems);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    // React events bubble through portals, so the submission would reach a form around this dialog.
    event.stopPropagation();
    if (change.isPending) return;
    const found = problemsOf(fields, { isNew: of === undefined, placeholders });
    setOwn(found);
    if (Object.keys(found).length === 0) change.mutate();
  };
  return (
    <Dialog
      title={of === undefined ? 'New connection' : 'Edit connection'}
      onClose={onClose}
      holdsText
      footer={
        <>
          {onBack !== undefined && <Button onClick={onBack}>Other service</Button>}
          <Button variant="primary" type="submit" form={formId} isBusy={change.isPending}>
            {of === undefined ? 'Create' : 'Save'}
          </Button>
        </>
      }
    >
      <form className="connection-form" id={formId} ref={form} noValidate onSubmit={submit}>
        <About preset={preset} kind={fields.kind} />
        {Object.keys(refused).length === 0 && <Problem error={change.error} />}
        <ConnectionForm
          preset={preset}
          isStored={of !== undefined}
          fields={fields}
          placeholders={placeholders}
          problems={problems}
          onChange={setFields}
          onPlaceholder={(name, value) => {
            const values = { ...placeholders, [name]: value };
            setPlaceholders(values);
            if (preset !== undefined) setFields(withPlaceholders(fields, preset, { before: placeholders, values }));
          }}
        />
      </form>
    </Dialog>
  );
}

function About({ preset, kind }: { preset: Preset | undefined; kind: ConnectionKind }) {
  const { label, description } = KINDS[kind];
  return (
    <p className="connection-about">
      <strong>{preset?.name ?? label}</strong> {preset === undefined ? description : `${label}: ${description}`}{' '}
      {preset !== undefined && (
        <a href={preset.documentation_url} target="_blank" rel="noreferrer">
          Documentation of {preset.name}
        </a>
      )}
    </p>
  );
}

/** Focuses the first field. After the choice of a service, the search box that had the focus is gone. */
function useFirstField(form: { current: HTMLFormElement | null }): void {
  useEffect(() => form.current?.querySelector<HTMLElement>('input, textarea')?.focus(), [form]);
}

/** Focuses the first invalid field. */
function useFirstProblem(form: { current: HTMLFormElement | null }, problems: FieldProblems): void {
  const found = Object.keys(problems).toSorted().join();
  useEffect(() => {
    if (found !== '') form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [form, found]);
}

interface SignInDialogProps {
  projectId: number;
  connection: Connection;
  onClose: () => void;
}

/** Offers to sign in after a connection was created or changed. */
function SignInDialog({ projectId, connection, onClose }: SignInDialogProps) {
  const signIn = useSignIn(onClose);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <Dialog
      title="Sign in"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Later</Button>
          <Button
            variant="primary"
            ref={button}
            isBusy={signIn.isStarting}
            onClick={() => signIn.start({ projectId, id: connection.id })}
          >
            Sign in
          </Button>
        </>
      }
    >
      <p>
        The connection <strong>{connection.name}</strong> is stored. It can be used once somebody has signed in at the
        provider. Until then nodes that use it wait.
      </p>
      {signIn.current !== undefined && <SignInGoesOn />}
      {signIn.problem !== undefined && <Alert>{signIn.problem}</Alert>}
    </Dialog>
  );
}

/** Refers to the window in which the sign-in continues. */
export function SignInGoesOn() {
  return (
    <p className="connection-waits">Sign in in the window that has opened. This page notices when you are done.</p>
  );
}
