import { useId, useState, type FormEvent } from 'react';
import { ServiceIcon } from '../../drawing/service-icon.js';
import { FileDrop } from '../../files/file-drop.js';
import { fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { useChange } from '../../service/queries.js';
import { SERVICES, type Service } from '../../service/services.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Hint, TextField } from '../../ui/fields.js';
import { formatBytes } from '../../ui/format.js';
import { Alert } from '../../ui/notices.js';
import '../../ui/remarks.css';
import { toVisibleText } from '../../ui/visible-json.js';
import { ServiceActions } from './service-actions.js';
import { problemOf, storeService, type ServiceFields, type StoredService } from './service-calls.js';
import './services.css';

/** The button `Add service` and its dialog. */
export function AddService({ projectId }: { projectId: number }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Add service</Button>
      {isOpen && <ServiceDialog projectId={projectId} onClose={() => setIsOpen(false)} />}
    </>
  );
}

interface ServiceDialogProps {
  projectId: number;
  /** The service whose document is replaced; a new one by default. */
  of?: Service;
  onClose: () => void;
}

/** Asks for an OpenAPI document, then shows the service that was made from it. */
export function ServiceDialog({ projectId, of, onClose }: ServiceDialogProps) {
  const [fields, setFields] = useState<ServiceFields>({
    file: undefined,
    address: '',
    name: of?.name ?? '',
    serverUrl: '',
  });
  const [problem, setProblem] = useState<string>();
  const formId = useId();
  const change = useChange(() => storeService(projectId, fields, of), {
    invalidates: [SERVICES],
    announcement: of === undefined ? 'The service is added.' : 'The service is updated.',
  });
  if (change.data !== undefined)
    return <OutcomeDialog service={change.data} isNew={of === undefined} onClose={onClose} />;
  const set = (next: Partial<ServiceFields>): void => {
    setProblem(undefined);
    setFields({ ...fields, ...next });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (change.isPending) return;
    const found = problemOf(fields);
    setProblem(found);
    if (found === undefined) change.mutate();
  };
  const refused = fieldErrors(change.error);
  const wrong = problem ?? refused['openapi'];
  return (
    <Dialog
      title={of === undefined ? 'Add service' : `Update ${of.name}`}
      onClose={onClose}
      holdsText
      footer={
        <Button variant="primary" type="submit" form={formId} isBusy={change.isPending}>
          {of === undefined ? 'Add' : 'Update'}
        </Button>
      }
    >
      <form className="service-form" id={formId} noValidate onSubmit={submit}>
        <Hint>
          {of === undefined
            ? 'An OpenAPI document (3.0, 3.1 or Swagger 2.0, in JSON or YAML) says which actions a service has.'
            : 'A newer document. Drawings keep what their nodes have stored.'}
        </Hint>
        {wrong !== undefined && <Alert>{wrong}</Alert>}
        <Problem error={change.error} fields={['openapi', 'name', 'server_url']} />
        {fields.file === undefined ? (
          <>
            <FileDrop accept=".json,.yaml,.yml,application/json" onFiles={([file]) => file && set({ file })} />
            <TextField
              label="Address"
              type="url"
              placeholder="https://"
              hint="Or the https address of the document"
              value={fields.address}
              onChange={(address) => set({ address })}
            />
          </>
        ) : (
          <div className="service-file">
            <strong>{toVisibleText(fields.file.name)}</strong>
            <span>{formatBytes(fields.file.size)}</span>
            <Button variant="quiet" onClick={() => set({ file: undefined })}>
              Remove file
            </Button>
          </div>
        )}
        <TextField
          label="Name"
          hint="The title of the document if empty"
          maxLength={200}
          value={fields.name}
          error={refused['name']}
          onChange={(name) => set({ name })}
        />
        <TextField
          label="Server address"
          type="url"
          placeholder="https://"
          hint={
            of === undefined
              ? 'Replaces the servers of the document; needed where it names no host'
              : 'Replaces the servers of the document; what was entered before counts no more'
          }
          value={fields.serverUrl}
          error={refused['server_url']}
          onChange={(serverUrl) => set({ serverUrl })}
        />
      </form>
    </Dialog>
  );
}

/** A document may have a warning for each of its operations. */
const MOST_WARNINGS = 100;

/** Shows the number of actions, warnings about operations that cannot be called as described, and the actions. */
function OutcomeDialog({ service, isNew, onClose }: { service: StoredService; isNew: boolean; onClose: () => void }) {
  const { id, name, action_count: count, warnings } = service;
  const shown = warnings.slice(0, MOST_WARNINGS);
  return (
    <Dialog
      title={isNew ? 'Service added' : 'Service updated'}
      onClose={onClose}
      isWide
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <p className="service-head">
        <ServiceIcon id={id} name={name} />
        <span>
          <strong>{name}</strong> has {count === 1 ? '1 action' : `${count} actions`}.
        </span>
      </p>
      {warnings.length > 0 && (
        <>
          <p>
            {warnings.length === 1 ? '1 operation' : `${warnings.length} operations`} cannot be called, or not as the
            document says:
          </p>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <ul className="remarks service-warnings" aria-label="Warnings" tabIndex={0}>
            {shown.map(({ operation, message }, index) => (
              // The index is a safe key, because the list never changes.
              <li key={index}>
                <strong>{operation}</strong>
                <span>{message}</span>
              </li>
            ))}
          </ul>
          {warnings.length > shown.length && <Hint>{`And ${warnings.length - shown.length} more.`}</Hint>}
        </>
      )}
      <ServiceActions serviceId={id} />
    </Dialog>
  );
}
