// The field `require_approval` of a server: which of its tools wait for a person. A tool that no list names waits.
import { asArray, asObject, asText } from '../../ui/json.js';

interface Lists {
  always: readonly string[];
  never: readonly string[];
  /** Tools of which only calls with certain arguments wait. */
  whenGiven: readonly string[];
}

function listsOf(policy: unknown): Lists {
  const { always, never } = asObject(policy);
  const conditions = conditionsOf(policy).flatMap((condition) => asText(condition['tool_name']) ?? []);
  return { always: namesIn(always), never: namesIn(never), whenGiven: conditions };
}

function namesIn(list: unknown): string[] {
  return asArray(asObject(list)['tool_names']).flatMap((name) => asText(name) ?? []);
}

function conditionsOf(policy: unknown): Record<string, unknown>[] {
  return asArray(asObject(policy)['when_given']).map(asObject);
}

/** True if at least some calls of the tool wait for a person. For a tool in several lists, the safest list counts. */
export function asksFor(policy: unknown, tool: string): boolean {
  if (policy === 'never') return false;
  const { always, never, whenGiven } = listsOf(policy);
  return always.includes(tool) || whenGiven.includes(tool) || !never.includes(tool);
}

/** The tools that the policy names. */
export function namedTools(policy: unknown): string[] {
  const { always, never, whenGiven } = listsOf(policy);
  return [...new Set([...always, ...never, ...whenGiven])];
}

/** Returns the policy after a change for one tool: `asks` is true if its calls wait. `tools` are all known tools. */
export function withAsk(policy: unknown, tools: readonly string[], tool: string, asks: boolean): unknown {
  const known = [...new Set([...tools, ...namedTools(policy), tool])];
  const never = known.filter((name) => (name === tool ? !asks : !asksFor(policy, name)));
  const { always } = listsOf(policy);
  // All calls of a tool in `always` wait, whatever its condition says.
  const conditions = conditionsOf(policy).filter(({ tool_name: name }) => {
    return name !== tool && !always.includes(String(name));
  });
  if (conditions.length > 0) return { never: { tool_names: never }, when_given: conditions };
  return never.length === 0 ? 'always' : { never: { tool_names: never } };
}

/** What the policy means for a server whose tools are `tools`. */
export type Ask = 'all' | 'none' | 'some';

export function askOf(policy: unknown, tools: readonly string[]): Ask {
  if (policy === 'never') return 'none';
  const { never, whenGiven } = listsOf(policy);
  if (whenGiven.length > 0) return 'some';
  const named = tools.length === 0 ? never : tools;
  return named.every((tool) => asksFor(policy, tool)) ? 'all' : 'some';
}

/** Says in words which calls wait. */
export function policySentence(policy: unknown, tools: readonly string[]): string {
  switch (askOf(policy, tools)) {
    case 'all':
      return 'Each call waits until a person approves it.';
    case 'none':
      return 'No call waits for a person.';
    case 'some':
    default: {
      const free = namedTools(policy).filter((tool) => !asksFor(policy, tool));
      const { always, whenGiven } = listsOf(policy);
      const some = whenGiven.filter((tool) => !always.includes(tool));
      return [
        free.length > 0 && `Calls of ${inWords(free)} are made at once.`,
        some.length > 0 && `Calls of ${inWords(some)} wait only with certain arguments.`,
        'Each other call waits until a person approves it.',
      ]
        .filter((sentence) => sentence !== false)
        .join(' ');
    }
  }
}

const MOST_NAMED = 4;

/** Returns `a`, `a and b`, or `a, b, c and 3 more`. */
function inWords(names: readonly string[]): string {
  const shown = names.length > MOST_NAMED ? names.slice(0, MOST_NAMED - 1) : names;
  const rest = names.length - shown.length;
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown;
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
