import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { Alert } from '../../ui/notices.js';
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
  });
  // What was asked for is shown at once.
  const isOn = toggle.isPending ? toggle.variables : isBookmarked;
  const change = (): void => toggle.mutate(!isBookmarked);
  return (
    <>
      <Button
        variant="quiet"
        className="bookmark"
        aria-label="Bookmark"
        aria-pressed={isOn}
        title={`Bookmark ${title}`}
        isBusy={toggle.isPending}
        onClick={change}
      >
        <span aria-hidden="true">{isOn ? '★' : '☆'}</span>
      </Button>
      {toggle.isError && <Alert onRetry={change}>{explain(toggle.error)}</Alert>}
    </>
  );
}
