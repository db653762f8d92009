import { Note } from '../../../ui/notices.js';
import { mayAct, type Project } from '../use-projects.js';
import { Deliveries } from './deliveries.js';
import { EndpointForm } from './endpoint-form.js';
import { SigningSecret } from './signing-secret.js';

/** Where the project's events go, and how that went. */
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
