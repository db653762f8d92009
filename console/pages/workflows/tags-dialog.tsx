import { useState } from 'react';
import { api, unwrap } from '../../service/api.js';
import { fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { useProjects } from '../../service/projects.js';
import { submitHandler, useChange } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';
import { useTags, type ListedWorkflow } from './list-calls.js';

interface TagsDialogProps {
  workflow: ListedWorkflow;
  onClose: () => void;
}

const MOST_TAGS = 10;
const MOST_CHARACTERS = 40;

/** Adds and removes tags of a workflow. Offers the tags of other workflows of the project. */
export function TagsDialog({ workflow: { id, title, project, tags: before }, onClose }: TagsDialogProps) {
  const [tags, setTags] = useState<readonly string[]>(before);
  const [text, setText] = useState('');
  const projects = useProjects().data ?? [];
  const known = useTags(projects.filter((one) => one.id === project));
  const typed = text.trim();
  const isFull = tags.length >= MOST_TAGS;
  const change = useChange(() => save(id, typed === '' ? tags : withTag(tags, typed)), {
    invalidates: ['workflows'],
    announcement: 'The tags are saved.',
    onSuccess: onClose,
  });
  const add = (tag: string): void => {
    setTags((all) => withTag(all, tag));
    setText('');
  };
  const offered = isFull ? [] : known.filter((tag) => !tags.includes(tag));
  return (
    <Dialog title="Tags" onClose={onClose} holdsText>
      <form className="tags-form" onSubmit={submitHandler(change)}>
        <p>Tags by which “{title}” is found in the list.</p>
        <div className="tags-add">
          <TextField
            label="Tag"
            value={text}
            onChange={setText}
            maxLength={MOST_CHARACTERS}
            disabled={isFull}
            hint={isFull ? `A workflow has at most ${MOST_TAGS} tags.` : undefined}
            error={fieldErrors(change.error)['tags']}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.nativeEvent.isComposing || typed === '') return;
              event.preventDefault();
              add(typed);
            }}
          />
          <Button disabled={typed === '' || isFull} onClick={() => add(typed)}>
            Add tag
          </Button>
        </div>
        {tags.length > 0 && (
          <ul className="tags" aria-label="Tags of the workflow">
            {tags.map((tag) => (
              <li key={tag} className="tag">
                {tag}
                <button
                  type="button"
                  className="tag-remove"
                  aria-label={`Remove ${tag}`}
                  onClick={() => setTags((all) => all.filter((one) => one !== tag))}
                >
                  ✕
                </button>
              </li>
            ))}
          </ul>
        )}
        {offered.length > 0 && (
          <ul className="tags" aria-label="Tags of the project">
            {offered.map((tag) => (
              <li key={tag}>
                <button type="button" className="tag tag-button" onClick={() => add(tag)}>
                  + {tag}
                </button>
              </li>
            ))}
          </ul>
        )}
        <Problem error={change.error} fields={['tags']} />
        <Button type="submit" variant="primary" isBusy={change.isPending}>
          Save tags
        </Button>
      </form>
    </Dialog>
  );
}

function withTag(tags: readonly string[], tag: string): readonly string[] {
  return tags.includes(tag) ? tags : [...tags, tag];
}

function save(id: number, tags: readonly string[]): Promise<unknown> {
  return unwrap(api.PATCH('/api/v1/workflows/{id}/', { params: { path: { id } }, body: { tags: [...tags] } }));
}
