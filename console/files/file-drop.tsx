import { useRef, useState, type DragEvent } from 'react';
import { Button } from '../ui/button.js';
import { classNames } from '../ui/class-names.js';
import './files.css';

interface FileDropProps {
  isMany?: boolean;
  /** File extensions and media types that the browser's dialog offers first: `.json,.yaml`. */
  accept?: string;
  describedBy?: string | undefined;
  onFiles: (files: FileList) => void;
}

/** An area that takes dropped files, with the button `Choose file`. */
export function FileDrop({ isMany = false, accept, describedBy, onFiles }: FileDropProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent): void => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    setIsOver(true);
  };
  return (
    <div
      className={classNames('file-drop', isOver && 'file-drop-over')}
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        onFiles(event.dataTransfer.files);
      }}
    >
      <input
        ref={input}
        type="file"
        hidden
        multiple={isMany}
        accept={accept}
        onChange={({ target }) => {
          if (target.files !== null) onFiles(target.files);
          // Otherwise selecting the same file again fires no change event.
          target.value = '';
        }}
      />
      <Button aria-describedby={describedBy} onClick={() => input.current?.click()}>
        Choose file
      </Button>
      <span className="file-drop-words">{isMany ? 'or drop files here' : 'or drop it here'}</span>
    </div>
  );
}
