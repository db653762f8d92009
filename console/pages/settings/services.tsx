import { useState } from 'react';
import { ServiceIcon } from '../../drawing/service-icon.js';
import { AddService, ServiceDialog } from '../../parts/services/add-service.js';
import { ServiceActions } from '../../parts/services/service-actions.js';
import { deleteService } from '../../parts/services/service-calls.js';
import { ServiceError } from '../../service/api.js';
import { ConfirmChange } from '../../service/confirm-change.js';
import { QueryPlaceholder } from '../../service/problem.js';
import { mayAct, type Project } from '../../service/projects.js';
import { useChange } from '../../service/queries.js';
import { SERVICES, useServices, type Service } from '../../service/services.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SearchField } from '../../ui/fields.js';
import { Note } from '../../ui/notices.js';
import { Table, type Column } from '../../ui/table.js';

type Open = { dialog: 'actions' | 'update' | 'delete'; service: Service };

/** The services of the project, and below them the services of the catalogue. */
export function ServicesTab({ project }: { project: Project }) {
  const [search, setSearch] = useState('');
  const { data, error, refetch, isFetching } = useServices(project.id, search);
  const [open, setOpen] = useState<Open>();
  const mayChange = mayAct(project.role, 'editor');
  const close = (): void => setOpen(undefined);
  const isSearched = search.trim() !== '';
  const [own, others] = [ofSource(data, 'project'), ofSource(data, 'catalogue')];
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        A service says by its OpenAPI document which actions it has. The palette of the editor lists them, and agents
        call them as tools.
      </p>
      {mayChange ? (
        <p>
          <AddService projectId={project.id} />
        </p>
      ) : (
        <Note>Your role in this project is {project.role}. Its editors change the services.</Note>
      )}
      <SearchField label="Search services" value={search} onChange={setSearch} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <>
          <Table
            label="Services of the project"
            hasCards
            columns={columnsOf(setOpen, mayChange)}
            rows={own}
            keyOf={({ id }) => id}
            empty={
              isSearched
                ? 'No service of the project has these words.'
                : 'The project has no services of its own yet. Everybody has those of the catalogue.'
            }
          />
          <h3>Catalogue</h3>
          <Table
            label="Catalogue"
            hasCards
            columns={columnsOf(setOpen, false)}
            rows={others}
            keyOf={({ id }) => id}
            empty="No service of the catalogue has these words."
          />
        </>
      )}
      {open?.dialog === 'actions' && (
        <Dialog title={`Actions of ${open.service.name}`} onClose={close} isWide>
          <ServiceActions serviceId={open.service.id} />
        </Dialog>
      )}
      {open?.dialog === 'update' && <ServiceDialog projectId={project.id} of={open.service} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteDialog projectId={project.id} service={open.service} onClose={close} />}
    </div>
  );
}

function ofSource(services: readonly Service[] | undefined, wanted: Service['source']): Service[] {
  return (services ?? []).filter(({ source }) => source === wanted);
}

function columnsOf(open: (what: Open) => void, mayChange: boolean): Column<Service>[] {
  const columns: Column<Service>[] = [
    {
      heading: 'Name',
      cell: (service) => (
        <span className="settings-service">
          <ServiceIcon {...service} />
          <span>
            {service.name}
            {service.description !== '' && <span className="settings-detail">{service.description}</span>}
          </span>
        </span>
      ),
      isName: true,
    },
    {
      heading: 'Actions',
      cell: (service) => (
        <Button variant="quiet" onClick={() => open({ dialog: 'actions', service })}>
          {service.action_count === 1 ? '1 action' : `${service.action_count} actions`}
        </Button>
      ),
    },
    { heading: 'Version', cell: ({ version }) => version },
  ];
  if (!mayChange) return columns;
  const buttons: Column<Service> = {
    heading: 'Changes',
    isHeadingHidden: true,
    cell: (service) => (
      <span className="settings-buttons">
        <Button variant="quiet" onClick={() => open({ dialog: 'update', service })}>
          Update
        </Button>
        <Button variant="quiet" onClick={() => open({ dialog: 'delete', service })}>
          Delete
        </Button>
      </span>
    ),
  };
  return [...columns, buttons];
}

interface DeleteDialogProps {
  projectId: number;
  service: Service;
  onClose: () => void;
}

/**
 * Asks before deleting the service. While workflows use it, the API answers 409 with their names; a second click then
 * deletes the service anyway.
 */
function DeleteDialog({ projectId, service: { id, name }, onClose }: DeleteDialogProps) {
  const [isUsed, setIsUsed] = useState(false);
  const change = useChange(
    async () => {
      try {
        return await deleteService(projectId, id, isUsed);
      } catch (error) {
        if (error instanceof ServiceError && error.status === 409) setIsUsed(true);
        throw error;
      }
    },
    { invalidates: [SERVICES], announcement: 'The service is deleted.', onSuccess: onClose },
  );
  return (
    <ConfirmChange
      title="Delete service"
      confirmLabel={isUsed ? 'Delete anyway' : 'Delete'}
      isDangerous
      change={change}
      onClose={onClose}
    >
      <p>
        Nobody can find the actions of <strong>{name}</strong> any more. Nodes that use one have stored it, and run as
        before.
      </p>
    </ConfirmChange>
  );
}
