// Input that a person has typed, into a request for example, and not sent yet. It outlasts a change to another tab or
// page of the console, but no reload. It is in the query cache, which is cleared on signing out.
import { useState } from 'react';
import { queryClient } from './queries.js';

const UNSENT = 'unsent';
queryClient.setQueryDefaults([UNSENT], { gcTime: Infinity });

/**
 * `id` names the form, for example by its request. `nothing` is the input of an untouched form. `settle` returns what is
 * kept of the next input: without what ends with the form, such as an upload.
 */
export function useUnsent<Input>(
  id: string,
  nothing: Input,
  settle: (next: Input, kept: Input) => Input = (next) => next,
): [Input, (change: (before: Input) => Input) => void, forget: () => void] {
  const queryKey = [UNSENT, id];
  const read = (): Input => queryClient.getQueryData<Input>(queryKey) ?? nothing;
  const [input, setInput] = useState(read);
  const set = (change: (before: Input) => Input): void => {
    const kept = read();
    // Written here and not in an effect, because a file field reports once more when it unmounts.
    queryClient.setQueryData<Input>(queryKey, settle(change(kept), kept));
    setInput(change);
  };
  return [input, set, () => queryClient.removeQueries({ queryKey })];
}
