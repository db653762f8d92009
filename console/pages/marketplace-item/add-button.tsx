import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api, unwrap } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { toSignInPath } from '../../app/return-address.js';
import { useUser } from '../../app/session.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { Alert, announce } from '../../ui/notices.js';
import type { Published } from '../marketplace/marketplace-list.js';

const PATH = '/api/v1/workflows/marketplace/{slug}/add-from-marketplace/';

/** Makes a copy and leads to it; a visitor signs in first, and comes back here. */
export function AddButton({ workflow }: { workflow: Published }) {
  const user = useUser();
  const [here, go] = useLocation();
  const queries = useQueryClient();
  const copy = useMutation({
    mutationFn: () => unwrap(api.POST(PATH, { params: { path: { slug: workflow.slug } } })),
    onSuccess: ({ id, title }) => {
      announce(`${title} is in your workflows.`);
      for (const key of ['workflows', 'marketplace', 'projects']) void queries.invalidateQueries({ queryKey: [key] });
      go(`/workflows/${id}`);
    },
  });
  if (workflow.copied_workflow_id !== -1) {
    return (
      <ButtonLink to={`/workflows/${workflow.copied_workflow_id}`} variant="primary">
        Open my copy
      </ButtonLink>
    );
  }
  const act = (): void => {
    if (user === undefined) go(toSignInPath(here));
    else copy.mutate();
  };
  return (
    <div className="marketplace-add">
      <Button variant="primary" isBusy={copy.isPending} onClick={act}>
        Add to my workflows
      </Button>
      {copy.isError && <Alert>{explain(copy.error)}</Alert>}
    </div>
  );
}
