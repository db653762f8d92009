import { useState } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { useChange } from '../../service/queries.js';

type Fields = NonNullable<paths['/api/v1/workflows/{id}/']['patch']['requestBody']>['content']['application/json'];

interface OfferOptions {
  field: 'is_chat' | 'is_tool';
  /** Undefined until loaded. */
  stored: boolean | undefined;
  /** Query keys that the change makes stale. */
  invalidates: string[];
}

/**
 * A switch that offers the workflow to others. Shows the choice at once, and reverts to the stored value
 * if saving fails.
 */
export function useOffer(workflowId: number, { field, stored, invalidates }: OfferOptions) {
  const save = (isOffered: boolean): Promise<unknown> => {
    const body: Fields = { [field]: isOffered };
    return unwrap(api.PATCH('/api/v1/workflows/{id}/', { params: { path: { id: workflowId } }, body }));
  };
  const change = useChange(save, { invalidates, announcement: 'The change is saved.' });
  const [chosen, setChosen] = useState<boolean>();
  return {
    isOffered: chosen ?? stored === true,
    error: change.error,
    choose: (next: boolean): void => {
      setChosen(next);
      change.mutate(next, { onSettled: () => setChosen(undefined) });
    },
  };
}
