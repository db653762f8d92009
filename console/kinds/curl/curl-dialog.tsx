import { useState } from 'react';
import { isCredentialHeader } from '../../../graph/credential-headers.js';
import type { JsonObject } from '../../../graph/json.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';
import { asObject } from '../../ui/json.js';
import { Note } from '../../ui/notices.js';
import { readCurl } from './read-curl.js';
import { UnreadableCommand } from './split-command.js';

interface CurlDialogProps {
  /** The data of the node. */
  data: JsonObject;
  onImport: (data: JsonObject) => void;
  onClose: () => void;
}

/** Fills the form from a cURL command, and lists the parts that were not read or need attention. */
export function CurlDialog({ data, onImport, onClose }: CurlDialogProps) {
  const [command, setCommand] = useState('');
  const [problem, setProblem] = useState<string>();
  const [remarks, setRemarks] = useState<readonly string[]>();
  const take = (): void => {
    try {
      const read = readCurl(command);
      onImport(withRequest(data, read));
      const found = [...credentialRemarks(read.headers), ...read.remarks];
      if (found.length === 0) onClose();
      else setRemarks(found);
    } catch (error) {
      if (!(error instanceof UnreadableCommand)) throw error;
      setProblem(error.message);
    }
  };
  if (remarks !== undefined) {
    return (
      <Dialog title="Import cURL" onClose={onClose} footer={<Button onClick={onClose}>Done</Button>}>
        <p>The command is imported. Undo brings the form back.</p>
        <Note>
          <ul aria-label="Remarks">
            {remarks.map((remark) => (
              <li key={remark}>{remark}</li>
            ))}
          </ul>
        </Note>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Import cURL"
      holdsText
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={take}>
          Import
        </Button>
      }
    >
      <TextField
        label="Command"
        hint="It replaces the method, address, headers and body. Browsers copy it from a request of their network view."
        isRequired
        rows={8}
        spellCheck={false}
        error={problem}
        value={command}
        onChange={(text) => {
          setCommand(text);
          setProblem(undefined);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            event.stopPropagation();
            take();
          }
        }}
      />
    </Dialog>
  );
}

function withRequest(data: JsonObject, read: ReturnType<typeof readCurl>): JsonObject {
  const { headers: _headers, body: _body, ...rest } = data;
  const { url, method, headers, body, timeout } = read;
  return {
    ...rest,
    url,
    method,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body }),
    ...(timeout !== undefined && { settings: { ...asObject(data['settings']), timeout } }),
  };
}

function credentialRemarks(headers: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(headers).filter(isCredentialHeader);
  return names.map(
    (name) =>
      `The header ${name} is a credential. It is sealed when you save, and never shown again. A connection can hold it for all nodes of the project.`,
  );
}
