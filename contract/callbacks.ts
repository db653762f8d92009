// The address of a callback. The worker passes it on; the API shows it and serves it.

/** `publicUrl`: the service's own address, without a trailing slash. */
export function callbackUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/api/v1/callbacks/${token}/`;
}
