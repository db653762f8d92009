import type { ReactNode } from 'react';
import { Awaited } from '../../service/problem.js';
import { mayAct, useProjects, type Project } from '../../service/projects.js';
import { useSearchState } from '../../service/search-state.js';
import { useUser } from '../../service/session.js';
import { Note } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { AuditTab, ServiceAuditTab } from './audit.js';
import { ConnectionsTab } from './connections.js';
import { FilesTab } from './files.js';
import { KeysTab } from './keys.js';
import { MembersTab } from './members.js';
import { PasswordTab, SessionsTab } from './own-sign-in.js';
import { ProjectBar } from './project-bar.js';
import { ProvidersTab } from './providers.js';
import './settings.css';
import { StartsTab } from './starts.js';
import { UsersTab } from './users.js';
import { WebhooksTab } from './webhooks.js';

/** Address: `?tab=&project=`. Unknown or missing projects mean the person's first one. */
export function SettingsPage() {
  const { get, set } = useSearchState();
  const user = useUser();
  const { data, error, refetch, isFetching } = useProjects();
  const project = data?.find(({ id }) => String(id) === get('project')) ?? data?.[0];
  const tabs = tabsOf(project, data ?? [], user?.is_admin === true);
  const selected = tabs.find(({ id }) => id === get('tab'))?.id ?? 'api-keys';
  return (
    <>
      <PageHeader title="Settings" />
      <Awaited data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <>
          <ProjectBar projects={data} project={project} onChoose={(id) => set({ project: String(id) })} />
          <Tabs label="Settings" tabs={tabs} selected={selected} onSelect={(tab) => set({ tab, error: '' })} />
        </>
      )}
    </>
  );
}

function tabsOf(project: Project | undefined, projects: readonly Project[], isAdmin: boolean) {
  const of = (Tab: (props: { project: Project }) => ReactNode) => (
    <OfProject project={project}>{(one) => <Tab key={one.id} project={one} />}</OfProject>
  );
  return [
    { id: 'api-keys', label: 'API keys', content: <KeysTab projects={projects} /> },
    { id: 'members', label: 'Members', content: of(MembersTab) },
    { id: 'provider-keys', label: 'Provider keys', content: of(ProvidersTab) },
    ...(project !== undefined && mayAct(project.role, 'editor')
      ? [{ id: 'connections', label: 'Connections', content: of(ConnectionsTab) }]
      : []),
    { id: 'webhooks', label: 'Webhooks', content: of(WebhooksTab) },
    { id: 'files', label: 'Files', content: of(FilesTab) },
    { id: 'starts', label: 'Schedules and hooks', content: of(StartsTab) },
    ...(project !== undefined && mayAct(project.role, 'admin')
      ? [{ id: 'audit', label: 'Audit', content: of(AuditTab) }]
      : []),
    { id: 'sessions', label: 'Sessions', content: <SessionsTab /> },
    { id: 'password', label: 'Password', content: <PasswordTab /> },
    ...(isAdmin
      ? [
          { id: 'users', label: 'Users', content: <UsersTab /> },
          { id: 'service-audit', label: 'Audit of the service', content: <ServiceAuditTab projects={projects} /> },
        ]
      : []),
  ];
}

interface OfProjectProps {
  project: Project | undefined;
  children: (project: Project) => ReactNode;
}

/** Content of a project's tab, or a note if the person has no project. */
function OfProject({ project, children }: OfProjectProps) {
  if (project !== undefined) return children(project);
  return <Note>You have no project yet. Make one with the button New project, or ask its owner to add you.</Note>;
}
