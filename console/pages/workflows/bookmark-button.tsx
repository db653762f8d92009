import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { announce } from '../../ui/announce.js';
import { Button } from '../../ui/button.js';
import type { ListedWorkflow } from './use-workflows.js';

/** Bookmarked workflows come first in the list. */
export function BookmarkButton({ workflow }: { workflow: ListedWorkflow }) {
  const queries = useQueryClient();
  const { id, is_bookmarked: isBookmarked, title } = workflow;
  const toggle = useMutation({
    mutationFn: async (isWanted: boolean) => {
      const params = { path: { id } };
      if (isWanted) await unwrap(api.POST('/api/v1/all-workflows/{id}/add-bookmark/', { params }));
      else await unwrap(api.DELETE('/api/v1/all-workflows/{id}/delete-bookmark/', { params }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['workflows'] }),
    onError: (error) => announce(explain(error)),
  });
  // What was asked for is shown at once.
  const isOn = toggle.isPending ? toggle.variables : isBookmarked;
  return (
    <Button
      variant="quiet"
      className="bookmark"
      aria-label="Bookmark"
      aria-pressed={isOn}
      title={toggle.isError ? explain(toggle.error) : `Bookmark ${title}`}
      isBusy={toggle.isPending}
      onClick={() => toggle.mutate(!isBookmarked)}
    >
      <span aria-hidden="true">{isOn ? '★' : '☆'}</span>
    </Button>
  );
}
