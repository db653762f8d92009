import type { ReactNode } from 'react';
import { Problem } from '../../app/problem.js';
import { useSearchState } from '../../app/search-state.js';
import { useUser } from '../../app/session.js';
import { Loading } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { AuditTab } from './audit/audit-tab.js';
import { ServiceAuditTab } from './audit/service-audit-tab.js';
import { KeysTab } from './keys/keys-tab.js';
import { MembersTab } from './members/members-tab.js';
import { PasswordTab } from './people/password-tab.js';
import { SessionsTab } from './people/sessions-tab.js';
import { UsersTab } from './people/users-tab.js';
import { OfProject } from './project/of-project.js';
import { ProjectBar } from './project/project-bar.js';
import { ProvidersTab } from './providers/providers-tab.js';
import './settings.css';
import { StartsTab } from './starts/starts-tab.js';
import { mayAct, useProjects, type Project } from './use-projects.js';
import { WebhooksTab } from './webhooks/webhooks-tab.js';

/** `?tab=&project=`. The project is the first one unless the address names one of the person's. */
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
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <>
          <ProjectBar projects={data} project={project} onChoose={(id) => set({ project: String(id) })} />
          <Tabs label="Settings" tabs={tabs} selected={selected} onSelect={(tab) => set({ tab })} />
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
    { id: 'webhooks', label: 'Webhooks', content: of(WebhooksTab) },
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
