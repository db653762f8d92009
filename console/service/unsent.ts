// Input that a person has typed, into a request for example, and not sent yet. It outlasts a change to another tab or
// page of the console, but no reload. It is in the query cache, which is cleared on signing out.
import { useState } from 'react';
import { queryClient } from './queries.js';

const UNSENT = 'unsent';
queryClient.setQueryDefaults([UNSENT], { gcTime: Infinity });

/** `id` names the form, for example by its request. `nothing` is the input of an untouched form. */
export function useUnsent<Input>(
  id: string,
  nothing: Input,
): [Input, (change: (before: Input) => Input) => void, forget: () => void] {
  const queryKey = [UNSENT, id];
  const read = (): Input => queryClient.getQueryData<Input>(queryKey) ?? nothing;
  const [input, setInput] = useState(read);
  const set = (change: (before: Input) => Input): void => {
    // Written here and not in an effect, because a file field reports once more when it unmounts.
    setInput(queryClient.setQueryData<Input>(queryKey, change(read())) ?? nothing);
  };
  return [input, set, () => queryClient.removeQueries({ queryKey })];
}
