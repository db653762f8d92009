import { use, useRef, useState, type ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { SearchField } from '../ui/fields.js';
import { FormContext } from './form.js';
import type { Attributes } from './source-editor.js';
import { insertText } from './variable-picker.js';
import { VariableList } from './variable-tree.js';

interface EnlargeProps {
  label: string;
  /** Renders the editor with attributes that name its textbox. */
  renderEditor: (attributes: Attributes) => ReactNode;
  /** Shown beside the editor; by default the variables. */
  beside?: ReactNode;
}

/** A button that opens the editor of a field in a dialog of the window's height. */
export function Enlarge({ label, renderEditor, beside }: EnlargeProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        variant="quiet"
        className="enlarge"
        aria-label={`Enlarge ${label}`}
        title={`Enlarge ${label}`}
        onClick={() => setIsOpen(true)}
      >
        <span aria-hidden="true">⤢</span>
      </Button>
      {isOpen && (
        <Dialog title={label} isTall holdsText onClose={() => setIsOpen(false)}>
          <Large label={label} renderEditor={renderEditor} beside={beside} />
        </Dialog>
      )}
    </>
  );
}

function Large({ label, renderEditor, beside }: EnlargeProps) {
  const { variables, isReadOnly } = use(FormContext);
  const text = useRef<HTMLDivElement>(null);
  const [search, setSearch] = useState('');
  const insert = (variable: string): void => {
    const field = text.current?.querySelector<HTMLElement>('[data-variables]');
    if (field && !isReadOnly) insertText(field, variable);
  };
  return (
    <div className="large-editor">
      <div className="large-editor-text" ref={text}>
        {renderEditor({ 'aria-label': label })}
      </div>
      {beside !== undefined && <div className="large-editor-beside">{beside}</div>}
      {beside === undefined && variables !== undefined && (
        <section className="large-editor-beside" aria-label="Variables">
          <SearchField label="Search variables" value={search} onChange={setSearch} />
          <VariableList groups={variables.groups()} search={search} onChoose={insert} />
        </section>
      )}
    </div>
  );
}
