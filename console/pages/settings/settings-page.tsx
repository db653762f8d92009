import type { ReactNode } from 'react';
import { QueryPlaceholder } from '../../service/problem.js';
import { mayAct, useProjects, type Project, type Role } from '../../service/projects.js';
import { useSearchState } from '../../service/search-state.js';
import { useUser } from '../../service/session.js';
import { formatBytes } from '../../ui/format.js';
import { Note } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { GroupedTabs } from '../../ui/tabs.js';
import { AuditTab, ServiceAuditTab } from './audit.js';
import { ConnectionsTab } from './connections.js';
import { FilesTab } from './files.js';
import { KeysTab } from './keys.js';
import { MembersTab } from './members.js';
import { PasswordTab, SessionsTab } from './own-sign-in.js';
import { PoolsTab } from './pools.js';
import { ProjectBar } from './project-bar.js';
import { ProvidersTab } from './providers.js';
import { ServicesTab } from './services.js';
import './settings.css';
import { StartsTab } from './starts.js';
import { UsersTab } from './users.js';
import { WebhooksTab } from './webhooks.js';

/** Address: `?tab=&project=`. An unknown or missing project means the person's first project. */
export function SettingsPage() {
  const { get, set } = useSearchState();
  const user = useUser();
  const { data, error, refetch, isFetching } = useProjects();
  const project = data?.find(({ id }) => String(id) === get('project')) ?? data?.[0];
  const groups = groupsOf(project, data ?? [], user?.is_admin === true);
  const tabs = groups.flatMap((group) => group.tabs);
  const selected = tabs.find(({ id }) => id === get('tab'))?.id ?? 'api-keys';
  return (
    <>
      <PageHeader title="Settings" />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <GroupedTabs
          groups={groups.map((group) => ({
            ...group,
            ...(group.name === OF_PROJECT && {
              isHeadingHidden: project !== undefined,
              head: <ProjectBar projects={data} project={project} onChoose={(id) => set({ project: String(id) })} />,
            }),
          }))}
          selected={selected}
          onSelect={(tab) => set({ tab, error: '' })}
        />
      )}
    </>
  );
}

const OF_PROJECT = 'Project';

/** Returns the groups of tabs: of the project, of the person and, for administrators, of the service. */
function groupsOf(project: Project | undefined, projects: readonly Project[], isAdmin: boolean) {
  const of = (Tab: (props: { project: Project }) => ReactNode) => (
    <OfProject project={project}>{(one) => <Tab key={one.id} project={one} />}</OfProject>
  );
  const may = (role: Role): boolean => project !== undefined && mayAct(project.role, role);
  const ofProject = [
    { id: 'members', label: 'Members', content: of(MembersTab) },
    { id: 'provider-keys', label: 'Provider keys', content: of(ProvidersTab) },
    may('editor') && { id: 'connections', label: 'Connections', content: of(ConnectionsTab) },
    { id: 'services', label: 'Services', content: of(ServicesTab) },
    { id: 'webhooks', label: 'Webhooks', content: of(WebhooksTab) },
    { id: 'files', label: 'Files', content: of(FilesTab) },
    { id: 'starts', label: 'Schedules and hooks', content: of(StartsTab) },
    isAdmin && { id: 'pools', label: 'Pools', content: of(PoolsTab) },
    may('admin') && { id: 'audit', label: 'Audit', content: of(AuditTab) },
  ];
  const ofPerson = [
    { id: 'api-keys', label: 'API keys', content: <KeysTab projects={projects} /> },
    { id: 'sessions', label: 'Sessions', content: <SessionsTab /> },
    { id: 'password', label: 'Password', content: <PasswordTab /> },
  ];
  const ofService = [
    { id: 'users', label: 'Users', content: <UsersTab /> },
    { id: 'service-audit', label: 'Audit of the service', content: <ServiceAuditTab projects={projects} /> },
  ];
  return [
    { name: OF_PROJECT, tabs: ofProject.filter((tab) => tab !== false) },
    { name: 'You', tabs: ofPerson },
    ...(isAdmin ? [{ name: 'Service', tabs: ofService }] : []),
  ];
}

interface OfProjectProps {
  project: Project | undefined;
  children: (project: Project) => ReactNode;
}

/** Content of a project's tab, or a note if the person has no project. */
function OfProject({ project, children }: OfProjectProps) {
  if (project !== undefined) {
    return (
      <div className="settings-tab">
        {children(project)}
        <p className="settings-lead">
          The project stores {formatBytes(project.stored_bytes)}: its drawings with their versions, its runs with their
          results, and its files.
        </p>
      </div>
    );
  }
  return <Note>You have no project yet. Make one with the button New project, or ask its owner to add you.</Note>;
}
