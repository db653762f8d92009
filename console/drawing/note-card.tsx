import { NodeResizeControl, type NodeProps } from '@xyflow/react';
import { memo, useRef } from 'react';
import { MAX_NOTE_CHARACTERS } from '../../graph/notes.js';
import { useStore } from './editor-store.js';
import type { NoteNode } from './flow-nodes.js';
import './note-card.css';
import { changeNote, LEAST_SIZE, noteOfKey, removeNotes } from './notes.js';

/**
 * A note on the canvas, or the mark in place of a node that an import has left out. The first click selects it, and the
 * second edits its text. React Flow renders the wrapper, an article named `Note` or `Left out`.
 */
export const NoteCard = memo(function NoteCard({ id: key, data: { text, isLeftOut }, selected }: NodeProps<NoteNode>) {
  const store = useStore();
  const field = useRef<HTMLTextAreaElement>(null);
  const id = noteOfKey(key) ?? '';
  const isChosen = selected && !store.isReadOnly;
  return (
    <div className="note-card" data-selected={selected || undefined} data-left-out={isLeftOut || undefined}>
      <textarea
        ref={field}
        className={isChosen ? 'note-card-text nodrag nopan nowheel' : 'note-card-text'}
        aria-label="Text of the note"
        placeholder={store.isReadOnly ? '' : 'Write a note'}
        maxLength={MAX_NOTE_CHARACTERS}
        readOnly={store.isReadOnly}
        value={text}
        onChange={({ target }) =>
          store.change(changeNote(store.drawing, id, { text: target.value }), { gesture: `${key}:text` })
        }
        onBlur={store.endGesture}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          field.current?.closest<HTMLElement>('.react-flow__node')?.focus();
        }}
      />
      {isChosen && (
        <>
          <button
            type="button"
            className="note-card-remove nodrag nopan"
            aria-label="Delete note"
            onClick={() => store.change(removeNotes(store.drawing, new Set([id])), { select: [] })}
          >
            <span aria-hidden="true">✕</span>
          </button>
          <NodeResizeControl
            className="note-card-size"
            minWidth={LEAST_SIZE.width}
            minHeight={LEAST_SIZE.height}
            onResize={(_event, { width, height }) => {
              const size = { width: Math.round(width), height: Math.round(height) };
              store.change(changeNote(store.drawing, id, size), { gesture: `${key}:size` });
            }}
            onResizeEnd={store.endGesture}
          />
        </>
      )}
    </div>
  );
});
