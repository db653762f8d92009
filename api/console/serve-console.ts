// Serves the console at `/`. The console is no part of the interface for programs: it is not in the OpenAPI document,
// and every request that is not a GET or HEAD of one of its own paths goes to the routes first.
import { randomBytes } from 'node:crypto';
import type { AppContext, AppMiddleware } from '../http/app-state.js';
import { ApiError } from '../http/errors.js';
import type { Asset, ConsoleFiles } from './console-files.js';

const PAGE_HEADERS = {
  // Browsers revalidate the page every time: it names the files of the release, and contains the nonce of its policy.
  'Cache-Control': 'no-cache',
  'Content-Type': 'text/html; charset=utf-8',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
};
const ASSET_HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
const NOT_BUILT =
  'The console is not built here: `npm run build` builds it. The page /docs describes the interface for programs.\n';

const PAGE = { path: '(console)', quiet: false };
const ASSET = { path: '(console)/assets', quiet: true };

/** If `files` is undefined, the console is not built: `/` answers 404 with this reason. */
export function serveConsole(files: ConsoleFiles | undefined): AppMiddleware {
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if (files === undefined) return ctx.path === '/' ? answerNotBuilt(ctx) : next();
    const asset = files.assets.get(ctx.path);
    if (asset !== undefined) return answerAsset(ctx, asset);
    if (files.isAddress(ctx.path)) return answerPage(ctx, files.page, 200);
    return answerNext(ctx, next, files.page);
  };
}

/**
 * Answers an unknown address with the page, which explains the mistake and has the navigation, if the client accepts
 * HTML; programs get their JSON.
 */
async function answerNext(ctx: Context, next: () => Promise<unknown>, page: string): Promise<void> {
  try {
    await next();
  } catch (error) {
    const isUnknown = ctx.state.route === undefined && error instanceof ApiError && error.status === 404;
    const takesPages = /\btext\/html\b/.test(ctx.get('Accept')) && ctx.accepts('html') !== false;
    if (!isUnknown || !takesPages) throw error;
    answerPage(ctx, page, 404);
    ctx.vary('Accept');
  }
}

type Context = Pick<
  AppContext,
  'state' | 'accepts' | 'get' | 'set' | 'vary' | 'acceptsEncodings' | 'status' | 'body' | 'type'
>;

function answerPage(ctx: Context, page: string, status: 200 | 404): void {
  const nonce = randomBytes(16).toString('base64');
  ctx.state.console = PAGE;
  ctx.set({ ...PAGE_HEADERS, 'Content-Security-Policy': policyWith(nonce) });
  ctx.status = status;
  ctx.body = page.replaceAll('%NONCE%', nonce);
}

/**
 * The policy allows our own files, images and media that the page makes itself, and connections only to our own origin.
 * The nonce is for the style elements that libraries write.
 */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    // The page shows images and recordings from files of projects under `blob:` addresses. It takes the media type of a
    // file from its bytes, never from its declared type (console/files/preview.ts).
    "img-src 'self' data: blob:",
    'media-src blob:',
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function answerAsset(ctx: Context, { type, bodies }: Asset): void {
  ctx.state.console = ASSET;
  ctx.vary('Accept-Encoding');
  const coding = (['br', 'gzip'] as const).find((each) => bodies.has(each) && ctx.acceptsEncodings(each) === each);
  ctx.set({ ...ASSET_HEADERS, 'Content-Type': type, ...(coding === undefined ? {} : { 'Content-Encoding': coding }) });
  ctx.status = 200;
  ctx.body = bodies.get(coding ?? 'identity');
}

function answerNotBuilt(ctx: Context): void {
  ctx.state.console = PAGE;
  ctx.status = 404;
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body = NOT_BUILT;
}
