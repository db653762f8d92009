// The page's Content-Security-Policy accepts style elements with its nonce only. Radix reads the nonce from a global
// name, CodeMirror from `EditorView.cspNonce.of(styleNonce())`.

/** Returns undefined while Vite serves the page, which then has no policy. */
export function styleNonce(): string | undefined {
  const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');
  const nonce = meta?.nonce ?? '';
  return nonce === '' || nonce.startsWith('%') ? undefined : nonce;
}

export function passNonceToLibraries(): void {
  const nonce = styleNonce();
  if (nonce !== undefined) Object.assign(globalThis, { __webpack_nonce__: nonce });
}
