/** What the service shows in place of a stored secret; sent back, it keeps what is stored. */
export const MASK = '********';
