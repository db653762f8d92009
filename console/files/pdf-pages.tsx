import { useEffect, useRef, useState } from 'react';
import { getDocument, GlobalWorkerOptions, VerbosityLevel, type PDFDocumentProxy } from 'pdfjs-dist';
// The build resolves the address of the worker.
// oxlint-disable-next-line import/default
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import { Button } from '../ui/button.js';
import { Loading } from '../ui/notices.js';
import { PdfFonts } from './pdf-fonts.js';

GlobalWorkerOptions.workerSrc = workerUrl;

/** Limit per side in pixels, whatever size the page declares. */
const MOST_DOTS = 3_000;
const MOST_IMAGE_DOTS = 32 * 1024 * 1024;

/** Shows a PDF page by page, with inactive scripts and links. */
export function PdfPages({ blob, name }: { blob: Blob; name: string }) {
  const { document, isBroken } = useDocument(blob);
  const [number, setNumber] = useState(1);
  const [isUndrawn, setIsUndrawn] = useState(false);
  if (isBroken) return <p className="file-kind">It cannot be shown: it is locked by a password, or broken.</p>;
  if (document === undefined) return <Loading />;
  const total = document.numPages;
  const turn = (by: number): void => {
    setIsUndrawn(false);
    setNumber(number + by);
  };
  return (
    <div className="pdf" role="group" aria-label={`Page ${number} of ${total} of ${name}`}>
      {isUndrawn && <p className="file-kind">This page cannot be drawn.</p>}
      <PdfPage key={number} document={document} number={number} onProblem={() => setIsUndrawn(true)} />
      {total > 1 && (
        <div className="pdf-bar">
          <Button disabled={number === 1} onClick={() => turn(-1)}>
            Previous page
          </Button>
          <span>
            {number} of {total}
          </span>
          <Button disabled={number === total} onClick={() => turn(1)}>
            Next page
          </Button>
        </div>
      )}
    </div>
  );
}

interface Opened {
  document: PDFDocumentProxy | undefined;
  isBroken: boolean;
}

function useDocument(blob: Blob): Opened {
  const [opened, setOpened] = useState<Opened>({ document: undefined, isBroken: false });
  useEffect(() => {
    let isOver = false;
    let close = (): void => undefined;
    const open = async (): Promise<void> => {
      const data = new Uint8Array(await blob.arrayBuffer());
      if (isOver) return;
      const task = getDocument({
        data,
        isEvalSupported: false,
        useWasm: false,
        useWorkerFetch: false,
        enableXfa: false,
        maxImageSize: MOST_IMAGE_DOTS,
        StandardFontDataFactory: PdfFonts,
        verbosity: VerbosityLevel.ERRORS,
      });
      close = () => void task.destroy();
      const document = await task.promise;
      if (!isOver) setOpened({ document, isBroken: false });
    };
    open().catch(() => {
      if (!isOver) setOpened({ document: undefined, isBroken: true });
    });
    return () => {
      isOver = true;
      close();
    };
  }, [blob]);
  return opened;
}

interface PdfPageProps {
  document: PDFDocumentProxy;
  /** Starts at 1. */
  number: number;
  onProblem: () => void;
}

function PdfPage({ document, number, onProblem }: PdfPageProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [text, setText] = useState('');
  const report = useRef(onProblem);
  useEffect(() => {
    report.current = onProblem;
  }, [onProblem]);
  useEffect(() => {
    let isOver = false;
    let stop = (): void => undefined;
    const draw = async (): Promise<void> => {
      const page = await document.getPage(number);
      const place = canvas.current;
      if (isOver || place === null) return;
      const whole = page.getViewport({ scale: 1 });
      const wanted = (place.parentElement!.clientWidth * devicePixelRatio) / whole.width;
      const scale = Math.min(wanted, MOST_DOTS / whole.width, MOST_DOTS / whole.height);
      const viewport = page.getViewport({ scale });
      place.width = Math.max(1, Math.floor(viewport.width));
      place.height = Math.max(1, Math.floor(viewport.height));
      const task = page.render({ canvas: place, viewport });
      stop = () => task.cancel();
      await task.promise;
      // Text for screen readers.
      const { items } = await page.getTextContent();
      if (!isOver) setText(items.map((item) => ('str' in item ? item.str : '')).join(' '));
    };
    draw().catch(() => {
      if (!isOver) report.current();
    });
    return () => {
      isOver = true;
      stop();
    };
  }, [document, number]);
  return (
    <canvas ref={canvas} className="pdf-page">
      {text}
    </canvas>
  );
}
