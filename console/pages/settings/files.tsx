import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmChange } from '../../service/confirm-change.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { mayAct, type Project } from '../../service/projects.js';
import { useChange } from '../../service/queries.js';
import { useSearchState, useTyped } from '../../service/search-state.js';
import { downloadFile } from '../../files/download-file.js';
import { deleteFile, ORDERS, useFiles, usesOf, type ListedFile } from '../../files/file-calls.js';
import { FileField } from '../../files/file-field.js';
import { Button } from '../../ui/button.js';
import { SearchField, SelectField } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { formatBytes } from '../../ui/format.js';
import { Pager, Table, type Column } from '../../ui/table.js';
import { toVisibleText } from '../../ui/visible-json.js';

const PAGE_SIZE = 20;

/** The files of a project: size, uses and expiry. */
export function FilesTab({ project }: { project: Project }) {
  const { get, set } = useSearchState();
  const [page, setPage] = useState(1);
  const [typed, setTyped] = useTyped(get('file'), (file) => {
    setPage(1);
    set({ file });
  });
  const ordering = ORDERS.find(({ value }) => value === get('order'))?.value ?? '-created_at';
  const { data, error, refetch, isFetching } = useFiles(project.id, {
    search: get('file'),
    ordering,
    page,
    size: PAGE_SIZE,
  });
  const [leaving, setLeaving] = useState<ListedFile>();
  const download = useMutation({ mutationFn: downloadFile });
  const mayDelete = mayAct(project.role, 'editor');
  const columns = columnsOf((file) => download.mutate(file), mayDelete ? setLeaving : undefined);
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        What runs were given and what they have made. A file stays as long as something refers to it, and goes by itself
        afterwards.
      </p>
      {mayDelete && <Upload projectId={project.id} />}
      <div className="settings-project">
        <SearchField label="Search files" value={typed} onChange={setTyped} />
        <SelectField
          label="Order"
          value={ordering}
          options={ORDERS}
          onChange={(order) => {
            setPage(1);
            set({ order }, { isStep: true });
          }}
        />
      </div>
      <Problem error={download.error} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <>
          <Table
            label="Files"
            hasCards
            columns={columns}
            rows={data.items}
            keyOf={({ file_id: id }) => id}
            empty={get('file') === '' ? 'This project has no files.' : 'No file has such a name.'}
          />
          <Pager page={page} size={data.size} total={data.total} onPage={setPage} />
        </>
      )}
      {leaving !== undefined && <DeleteFile file={leaving} onClose={() => setLeaving(undefined)} />}
    </div>
  );
}

function Upload({ projectId }: { projectId: number }) {
  const queries = useQueryClient();
  return (
    <FileField
      label="Upload"
      hint="A file that nothing uses goes after a day."
      projectId={projectId}
      isMany
      value=""
      onArrived={() => void queries.invalidateQueries({ queryKey: ['files'] })}
    />
  );
}

interface DeleteFileProps {
  file: ListedFile;
  onClose: () => void;
}

function DeleteFile({ file, onClose }: DeleteFileProps) {
  const uses = usesOf(file);
  const change = useChange(() => deleteFile(file.file_id), {
    invalidates: ['files'],
    announcement: 'The file is deleted.',
    onSuccess: onClose,
  });
  return (
    <ConfirmChange title="Delete file" confirmLabel="Delete" isDangerous change={change} onClose={onClose}>
      <p>
        “{toVisibleText(file.name)}” and its bytes are gone at once.{' '}
        {uses !== '' && `It is used by ${uses}, which will say that it was deleted.`}
      </p>
    </ConfirmChange>
  );
}

function columnsOf(
  onDownload: (file: ListedFile) => void,
  onDelete: ((file: ListedFile) => void) | undefined,
): Column<ListedFile>[] {
  return [
    { heading: 'Name', isName: true, cell: ({ name }) => <span className="file-name">{toVisibleText(name)}</span> },
    { heading: 'Type', cell: ({ type }) => <span className="file-name">{toVisibleText(type)}</span> },
    { heading: 'Size', isFigure: true, cell: ({ size }) => formatBytes(size) },
    { heading: 'Used by', cell: (file) => usesOf(file) || 'nothing' },
    { heading: 'Made', cell: ({ created_at: at }) => <Time at={at} /> },
    { heading: 'Goes', cell: ({ expires_at: at }) => (at === null ? '–' : <Time at={at} />) },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (file) => (
        <span className="settings-buttons">
          <Button variant="quiet" aria-label={`Download ${file.name}`} onClick={() => onDownload(file)}>
            Download
          </Button>
          {onDelete !== undefined && (
            <Button variant="quiet" aria-label={`Delete ${file.name}`} onClick={() => onDelete(file)}>
              Delete
            </Button>
          )}
        </span>
      ),
    },
  ];
}
