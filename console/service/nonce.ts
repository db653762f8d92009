// The policy of the page takes style elements with its nonce only. Radix asks for it by a global name; CodeMirror takes it
// as `EditorView.cspNonce.of(styleNonce())`.

/** Returns undefined while Vite serves the page, which has no policy then. */
export function styleNonce(): string | undefined {
  const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');
  const nonce = meta?.nonce ?? '';
  return nonce === '' || nonce.startsWith('%') ? undefined : nonce;
}

export function tellNonceToLibraries(): void {
  const nonce = styleNonce();
  if (nonce !== undefined) Object.assign(globalThis, { __webpack_nonce__: nonce });
}
