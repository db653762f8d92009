import type { NodeErrors } from '../graph/validate.js';

const ERRORS_SHOWN = 5;

/** What is wrong with a run that nobody asked for over HTTP: the first errors of its nodes, as one text. */
export function toSentences(errors: NodeErrors): string {
  const all = Object.entries(errors).flatMap(([nodeId, mistakes]) =>
    mistakes.flatMap((mistake) => Object.entries(mistake).map(([place, text]) => `node ${nodeId}, ${place}: ${text}`)),
  );
  const more = all.length > ERRORS_SHOWN ? `, and ${all.length - ERRORS_SHOWN} more` : '';
  return `${all.slice(0, ERRORS_SHOWN).join('; ')}${more}.`;
}
