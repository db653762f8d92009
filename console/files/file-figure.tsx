import { useMutation, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useCallback, useId, useMemo, useState, type ReactNode, type RefCallback } from 'react';
import { explain } from '../service/explain.js';
import { createLimit } from '../service/pace.js';
import { Button } from '../ui/button.js';
import { formatBytes } from '../ui/format.js';
import { Alert, Loading } from '../ui/notices.js';
import { toVisibleText } from '../ui/visible-json.js';
import { downloadFile } from './download-file.js';
import { filesOf, type FileValue } from '../service/file-value.js';
import './files.css';
import { readPreview, type Preview } from './preview.js';

const PdfPages = lazy(() => import('./pdf-pages.js').then((module) => ({ default: module.PdfPages })));

/** Number of files that are shown at first, and that each click on `Show … more` adds. */
const STEP = 10;

/** Shows the files in a result or other JSON. Renders nothing if there are none. */
export function FilesOf({ value }: { value: unknown }) {
  const files = useMemo(() => filesOf(value), [value]);
  const [most, setMost] = useState(STEP);
  if (files.length === 0) return null;
  return (
    <section className="file-figures" aria-label="Files">
      <h3>{files.length === 1 ? 'File' : 'Files'}</h3>
      {files.slice(0, most).map((file) => (
        <FileFigure key={file.file_id} file={file} />
      ))}
      {files.length > most && (
        <Button onClick={() => setMost(most + STEP)}>
          Show {Math.min(STEP, files.length - most)} more of {files.length}
        </Button>
      )}
    </section>
  );
}

function FileFigure({ file }: { file: FileValue }) {
  const id = useId();
  const download = useMutation({ mutationFn: () => downloadFile(file) });
  return (
    <figure className="file-figure" aria-labelledby={id}>
      <figcaption className="file-caption">
        <span className="file-facts">
          <strong className="file-name" id={id}>
            {toVisibleText(file.name)}
          </strong>
          <span className="file-kind">
            {formatBytes(file.size)}, {toVisibleText(file.type)}
          </span>
        </span>
        {file.deleted === true ? (
          <span className="file-kind">This file was deleted.</span>
        ) : (
          <Button isBusy={download.isPending} onClick={() => download.mutate()}>
            Download
          </Button>
        )}
      </figcaption>
      {download.isError && <Alert onRetry={() => download.mutate()}>{explain(download.error)}</Alert>}
      {file.deleted !== true && <FilePreview file={file} />}
    </figure>
  );
}

const limit = createLimit(3);

function FilePreview({ file }: { file: FileValue }) {
  const [isWanted, setIsWanted] = useState(false);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['file-preview', file.file_id, isWanted],
    queryFn: ({ signal }) => limit(() => readPreview(file, isWanted, signal), signal),
    // Bytes of a file never change. They may be large, so they leave the memory soon after their last use.
    staleTime: Infinity,
    gcTime: 10_000,
  });
  if (error !== null) {
    return (
      <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
        It cannot be shown. {explain(error)}
      </Alert>
    );
  }
  if (data === undefined) return <Loading />;
  if (data.kind === 'large') return <Button onClick={() => setIsWanted(true)}>Show</Button>;
  return <Shown preview={data} name={file.name} />;
}

function Shown({ preview, name }: { preview: Exclude<Preview, { kind: 'large' }>; name: string }) {
  switch (preview.kind) {
    case 'image':
    case 'audio':
      return <Media kind={preview.kind} blob={preview.blob} name={name} />;
    case 'pdf':
      return (
        <Suspense fallback={<Loading />}>
          <PdfPages blob={preview.blob} name={name} />
        </Suspense>
      );
    case 'text':
      return (
        <>
          <Scrolled label={`Text of ${name}`}>
            <pre className="file-text">{preview.text}</pre>
          </Scrolled>
          {!preview.isWhole && <p className="file-kind">This is the beginning. The download has all of it.</p>}
        </>
      );
    case 'table':
      return (
        <>
          <Scrolled label={`Rows of ${name}`}>
            <Rows rows={preview.rows} name={name} />
          </Scrolled>
          {!preview.isWhole && <p className="file-kind">These are the first rows. The download has all of them.</p>}
        </>
      );
    case 'none':
    default:
      return null;
  }
}

function Media({ kind, blob, name }: { kind: 'image' | 'audio'; blob: Blob; name: string }) {
  const [isBroken, setIsBroken] = useState(false);
  const source = useSource(blob);
  if (isBroken) return <p className="file-kind">It cannot be shown: its bytes are broken.</p>;
  if (kind === 'image') {
    return <img className="file-image" ref={source} alt={name} onError={() => setIsBroken(true)} />;
  }
  // Audio files in results have no captions.
  // oxlint-disable-next-line jsx-a11y/media-has-caption
  return <audio className="file-audio" controls ref={source} aria-label={name} onError={() => setIsBroken(true)} />;
}

/** Sets the element's source to the bytes, and revokes the URL when the element unmounts. */
function useSource(blob: Blob): RefCallback<HTMLImageElement | HTMLAudioElement> {
  return useCallback(
    (element: HTMLImageElement | HTMLAudioElement | null) => {
      const url = URL.createObjectURL(blob);
      if (element !== null) element.src = url;
      return () => URL.revokeObjectURL(url);
    },
    [blob],
  );
}

/** Focusable, so that keyboard users can scroll it. */
function Scrolled({ label, children }: { label: string; children: ReactNode }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="file-scrolled" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

function Rows({ rows, name }: { rows: readonly (readonly string[])[]; name: string }) {
  const [head = [], ...body] = rows;
  /* Rows and cells have no ids, and never change. */
  /* oxlint-disable react/no-array-index-key */
  return (
    <table className="file-rows" aria-label={name}>
      <thead>
        <tr>
          {head.map((cell, at) => (
            <th key={at} scope="col">
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {body.map((row, line) => (
          <tr key={line}>
            {row.map((cell, at) => (
              <td key={at}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  /* oxlint-enable react/no-array-index-key */
}
