/** Replaces a secret in everything that leaves the service. Where it is sent back, the stored secret is kept. */
export const MASK = '********';
