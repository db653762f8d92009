/**
 * Replaces a secret in everything that leaves the service. A client that sends it back leaves the stored secret
 * unchanged.
 */
export const MASK = '********';
