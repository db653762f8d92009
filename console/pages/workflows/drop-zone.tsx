import { useState, type DragEvent, type ReactNode } from 'react';

interface DropZoneProps {
  onFiles: (files: File[]) => void;
  children: ReactNode;
}

/** A part of the page on which files can be dropped. Whoever has no mouse uses the button `Import`. */
export function DropZone({ onFiles, children }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent): void => {
    if (!holdsFiles(event)) return;
    // Without this the browser would leave the page for the file.
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    setIsOver(true);
  };
  return (
    <div
      className="drop-zone"
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={(event) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) setIsOver(false);
      }}
      onDrop={(event) => {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        setIsOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {isOver && (
        <div className="drop-zone-veil" aria-hidden="true">
          Drop the file to import the workflow
        </div>
      )}
    </div>
  );
}

function holdsFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer.types.includes('Files');
}
