import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Time } from '../../ui/figures.js';
import { Alert, announce, Loading, Note } from '../../ui/notices.js';
import { Pager } from '../../ui/table.js';
import type { Saver } from './saver.js';
import { useAction } from './use-action.js';

const SIZE = 20;

export function VersionsDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const store = useStore();
  const isDirty = useEditor((state) => state.isDirty);
  const { id } = saver.getState().workflow;
  const [page, setPage] = useState(1);
  const versions = useQuery({
    queryKey: ['workflow', id, 'versions', page],
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { page, size: SIZE } };
      return unwrap(api.GET('/api/v1/workflows/{id}/versions/', { params, signal }));
    },
  });
  return (
    <Dialog title="Versions" onClose={onClose}>
      {isDirty && <Note>Restoring replaces your unsaved changes; Undo brings them back.</Note>}
      {versions.error !== null && (
        <Alert onRetry={() => void versions.refetch()} isRetrying={versions.isFetching}>
          {explain(versions.error)}
        </Alert>
      )}
      {versions.isPending && <Loading />}
      <ul className="versions" aria-label="Versions">
        {versions.data?.items.map(({ version, created_at: at, is_current: isCurrent }) => (
          <li key={version} className="versions-item">
            <span>
              Version {version}
              {isCurrent && ' (now)'}
            </span>
            <Time at={at} />
            {!store.isReadOnly && <Restore saver={saver} version={version} onDone={onClose} />}
          </li>
        ))}
      </ul>
      {versions.data !== undefined && <Pager page={page} size={SIZE} total={versions.data.total} onPage={setPage} />}
    </Dialog>
  );
}

function Restore({ saver, version, onDone }: { saver: Saver; version: number; onDone: () => void }) {
  const queries = useQueryClient();
  const restore = useAction(async () => {
    const { id } = saver.getState().workflow;
    await saver.restore(version);
    await queries.invalidateQueries({ queryKey: ['workflow', id, 'versions'] });
    announce(`Version ${version} restored`);
    onDone();
  });
  return (
    <>
      <Button isBusy={restore.isRunning} onClick={() => void restore.run()}>
        Restore version {version}
      </Button>
      {restore.error !== undefined && <Alert>{explain(restore.error, { 412: STALE })}</Alert>}
    </>
  );
}

/** Only where their drawing is the same as the one here: else the person is asked to choose. */
const STALE = 'Somebody else has changed this workflow meanwhile. Press the button again to restore all the same.';
