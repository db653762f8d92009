import { useState } from 'react';
import { Note } from '../../../ui/notices.js';
import { mayAct, type Project } from '../use-projects.js';
import { AddProviderKey } from './add-provider-key.js';
import { DeleteProviderKey } from './delete-provider-key.js';
import { ProviderKeys } from './provider-keys.js';
import type { ProviderKey } from './use-provider-keys.js';

/** The project's own keys for model providers. */
export function ProvidersTab({ project }: { project: Project }) {
  const [doomed, setDoomed] = useState<ProviderKey>();
  if (!mayAct(project.role, 'admin')) {
    return (
      <div className="settings-tab">
        <Note>Your role in this project is {project.role}. Its admins and owners change the provider keys.</Note>
        <ProviderKeys projectId={project.id} />
      </div>
    );
  }
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        The project&rsquo;s runs call models with its own keys. The newest key of a provider is used; without one, that
        of the platform.
      </p>
      <AddProviderKey projectId={project.id} />
      <ProviderKeys projectId={project.id} onDelete={setDoomed} />
      {doomed !== undefined && (
        <DeleteProviderKey projectId={project.id} of={doomed} onClose={() => setDoomed(undefined)} />
      )}
    </div>
  );
}
