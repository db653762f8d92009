import { useRef } from 'react';
import { Button } from '../../ui/button.js';

interface ImportButtonProps {
  isBusy: boolean;
  onFile: (file: File) => void;
}

/** Lets a person choose a file, as `Export` or n8n writes it. */
export function ImportButton({ isBusy, onFile }: ImportButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button isBusy={isBusy} onClick={() => input.current?.click()}>
        Import
      </Button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label="File to import"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // The same file can be chosen again.
          target.value = '';
          if (file !== undefined) onFile(file);
        }}
      />
    </>
  );
}
