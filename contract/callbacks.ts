// The address of a callback: the worker hands it on, and the API shows it and answers it.

/** `publicUrl`: the service's own address, without a slash at its end. */
export function callbackUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/api/v1/callbacks/${token}/`;
}
