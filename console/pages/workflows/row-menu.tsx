import { useState } from 'react';
import { DeleteWorkflow, DuplicateWorkflow } from '../../parts/workflow/change-dialogs.js';
import { mayAct } from '../../service/projects.js';
import { Menu } from '../../ui/menu.js';
import type { ListedWorkflow } from './list-calls.js';
import { RunDialog } from './run-dialog.js';
import { TagsDialog } from './tags-dialog.js';

type OpenDialog = 'run' | 'tags' | 'duplicate' | 'delete';

/** Actions on a workflow in the list. Viewers only get the links to its runs, its chat and its starts. */
export function RowMenu({ workflow }: { workflow: ListedWorkflow }) {
  const [open, setOpen] = useState<OpenDialog>();
  const close = (): void => setOpen(undefined);
  const isEditor = mayAct(workflow.role, 'editor');
  return (
    <>
      <Menu
        label="Actions"
        items={[
          isEditor && { label: 'Run', onSelect: () => setOpen('run') },
          { label: 'Runs', to: `/runs?workflow=${workflow.id}` },
          workflow.is_chat && { label: 'Chat', to: `/workflows/${workflow.id}/chat` },
          { label: 'Starts by itself', to: `/workflows/${workflow.id}/starts` },
          isEditor && { label: 'Tags', onSelect: () => setOpen('tags') },
          isEditor && { label: 'Duplicate', onSelect: () => setOpen('duplicate') },
          isEditor && { label: 'Delete', onSelect: () => setOpen('delete'), isDangerous: true },
        ].filter((item) => item !== false)}
      >
        <span aria-hidden="true" title={`Actions of ${workflow.title}`}>
          ⋯
        </span>
      </Menu>
      {open === 'run' && <RunDialog workflow={workflow} onClose={close} />}
      {open === 'tags' && <TagsDialog workflow={workflow} onClose={close} />}
      {open === 'duplicate' && <DuplicateWorkflow workflow={workflow} onClose={close} />}
      {open === 'delete' && <DeleteWorkflow workflow={workflow} onClose={close} />}
    </>
  );
}
