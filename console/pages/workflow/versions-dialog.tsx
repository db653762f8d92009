import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { DifferenceList } from '../../parts/differences/difference-list.js';
import { compareDrawings } from '../../parts/differences/run-differences.js';
import { api, unwrap, type paths } from '../../service/api.js';
import { useMembers } from '../../service/members.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { useUser } from '../../service/session.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Time } from '../../ui/figures.js';
import { announce, Note } from '../../ui/notices.js';
import { useStored } from '../../ui/store.js';
import { Pager } from '../../ui/table.js';
import { VersionPicture } from './version-picture.js';
import './versions-dialog.css';
import type { Saver } from './saver.js';

type Versions = paths['/api/v1/workflows/{id}/versions/']['get']['responses'][200]['content']['application/json'];
type Version = Versions['items'][number];

const SIZE = 20;

interface VersionsDialogProps {
  saver: Saver;
  onClose: () => void;
}

/** The versions of the drawing, each with its author, its differences from the editor's drawing, and a picture. */
export function VersionsDialog({ saver, onClose }: VersionsDialogProps) {
  const isDirty = useEditor((state) => state.isDirty);
  const { id } = saver.getState().workflow;
  const [page, setPage] = useState(1);
  const [open, setOpen] = useState<number>();
  const versions = useQuery({
    queryKey: ['workflow', id, 'versions', page],
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { page, size: SIZE } };
      return unwrap(api.GET('/api/v1/workflows/{id}/versions/', { params, signal }));
    },
  });
  return (
    <Dialog title="Versions" isWide onClose={onClose}>
      {isDirty && <Note>Restoring replaces your unsaved changes; Undo brings them back.</Note>}
      <QueryPlaceholder {...versions} />
      <ul className="versions" aria-label="Versions">
        {versions.data?.items.map((version) => (
          <VersionItem
            key={version.version}
            version={version}
            saver={saver}
            isOpen={open === version.version}
            onOpen={(isOpen) => setOpen(isOpen ? version.version : undefined)}
            onDone={onClose}
          />
        ))}
      </ul>
      {versions.data !== undefined && <Pager page={page} size={SIZE} total={versions.data.total} onPage={setPage} />}
    </Dialog>
  );
}

interface VersionItemProps {
  version: Version;
  saver: Saver;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  /** Called after the version was restored. */
  onDone: () => void;
}

function VersionItem({ version, saver, isOpen, onOpen, onDone }: VersionItemProps) {
  const { isReadOnly } = useStore();
  const { version: number, created_at: at, author, is_current: isCurrent } = version;
  const { id, project } = useStored(saver, (state) => state.workflow);
  return (
    <li className="versions-item">
      <span>
        Version {number}
        {isCurrent && ' (now)'}
      </span>
      <span className="versions-made">
        <Time at={at} /> by <Author projectId={project} userId={author} />
      </span>
      <Button aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
        {isOpen ? 'Close' : 'Look at'} version {number}
      </Button>
      {/* The current version is the stored drawing already. */}
      {!isReadOnly && !isCurrent && <Restore saver={saver} version={number} onDone={onDone} />}
      {isOpen && <Opened workflowId={id} version={number} />}
    </li>
  );
}

/** Names a member of the project. Versions keep the ids of people who have left the project. */
function Author({ projectId, userId }: { projectId: number; userId: number }) {
  const isOwn = useUser()?.id === userId;
  const { data: members } = useMembers(projectId);
  if (isOwn) return 'you';
  if (members === undefined) return '…';
  return members.find((member) => member.user_id === userId)?.name ?? 'a former member';
}

/** A picture of the version, and its differences from the drawing in the editor. */
function Opened({ workflowId, version }: { workflowId: number; version: number }) {
  const shown = useEditor(({ history }) => history.present);
  const query = useQuery({
    queryKey: ['workflow', workflowId, 'version', version],
    queryFn: async ({ signal }) => {
      const params = { path: { id: workflowId, version } };
      return (await unwrap(api.GET('/api/v1/workflows/{id}/versions/{version}/', { params, signal }))).data;
    },
    staleTime: 60_000,
  });
  const { data } = query;
  const differences = useMemo(() => (data === undefined ? [] : compareDrawings(data, shown)), [data, shown]);
  if (data === undefined) return <QueryPlaceholder {...query} />;
  const name = `Version ${version}`;
  return (
    <section className="versions-opened" aria-label={name}>
      <VersionPicture drawing={data} name={name} />
      {differences.length === 0 ? (
        <p>It runs the same as what you see now.</p>
      ) : (
        <DifferenceList title="Differences" differences={differences} sides={[name, 'Now']} />
      )}
    </section>
  );
}

function Restore({ saver, version, onDone }: { saver: Saver; version: number; onDone: () => void }) {
  const queries = useQueryClient();
  const restore = useMutation({
    mutationFn: async () => {
      const { id } = saver.getState().workflow;
      await saver.restore(version);
      await queries.invalidateQueries({ queryKey: ['workflow', id, 'versions'] });
      announce(`Version ${version} restored`);
      onDone();
    },
  });
  return (
    <>
      <Button isBusy={restore.isPending} onClick={() => restore.mutate()}>
        Restore version {version}
      </Button>
      <Problem error={restore.error} sentences={{ 412: STALE }} />
    </>
  );
}

/**
 * Shown after a 412. If the editor's drawing equals the one that somebody else has saved, the saver has taken over its
 * ETag, so the next press restores. Otherwise the conflict dialog opens above this sentence.
 */
const STALE = 'Somebody else has changed this workflow meanwhile. Press the button again to restore all the same.';
