import { createIdempotencyKey } from '../../clients/typescript/src/index.js';

/** A random UUID, for nodes and edges; over plain HTTP, too, where browsers do not make one. */
export const newId: () => string = createIdempotencyKey;
