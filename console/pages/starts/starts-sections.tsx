import type { components } from '../../service/api.js';
import { ChatSection } from './chat.js';
import { HooksSection } from '../../parts/starts/hooks.js';
import { SchedulesSection } from '../../parts/starts/schedules.js';
import '../../parts/starts/starts.css';
import { ToolSection } from './tool.js';

interface StartsSectionsProps {
  workflowId: number;
  role: components['schemas']['Role'];
  isChat: boolean;
}

export function StartsSections({ workflowId, role, isChat }: StartsSectionsProps) {
  return (
    <div className="starts">
      <SchedulesSection workflowId={workflowId} mayChange={role !== 'viewer'} />
      <HooksSection workflowId={workflowId} mayChange={role !== 'viewer'} />
      <ToolSection workflowId={workflowId} mayChange={role !== 'viewer'} />
      <ChatSection workflowId={workflowId} isChat={isChat} mayChange={role !== 'viewer'} />
    </div>
  );
}
