// What the inbox shows does not move while it is read: new requests wait until they are asked for, and those that others
// have decided stay where they are.
import type { Approval } from './approval-types.js';

type Shown = readonly Approval[];

/** Requests above those that are shown: they would push down what is being read. */
export function freshOf(shown: Shown, listed: Shown): Approval[] {
  return split(shown, listed).fresh;
}

/** With what is listed below them, which moves nothing; with everything where nothing is shown yet. */
export function withOlder(shown: Shown, listed: Shown): Shown {
  const { older } = split(shown, listed);
  return older.length === 0 ? shown : [...shown, ...older];
}

/** Waiting ones that are listed no longer: somebody has decided, or they have expired. */
export function missingOf(shown: Shown, listed: Shown): string[] {
  const ids = new Set(listed.map(({ request_id }) => request_id));
  return shown
    .filter(({ request_id, status }) => status === 'pending' && !ids.has(request_id))
    .map(({ request_id }) => request_id);
}

/** With the newer state of some of them. */
export function withChanges(shown: Shown, changed: Shown): Shown {
  const byId = new Map(changed.map((request) => [request.request_id, request]));
  return shown.map((request) => byId.get(request.request_id) ?? request);
}

/** Lists begin with the newest request. */
function split(shown: Shown, listed: Shown): { fresh: Approval[]; older: Approval[] } {
  const ids = new Set(shown.map(({ request_id }) => request_id));
  const oldest = shown.at(-1)?.created_at;
  const others = listed.filter(({ request_id }) => !ids.has(request_id));
  const isOlder = ({ created_at }: Approval): boolean => oldest === undefined || created_at <= oldest;
  return { fresh: others.filter((request) => !isOlder(request)), older: others.filter(isOlder) };
}
