// The console at `/`. It is no part of the interface for programs: not in the OpenAPI document, and every path that is not
// its own is left to the routes.
import { randomBytes } from 'node:crypto';
import type { AppContext, AppMiddleware } from '../http/app-state.js';
import type { Asset, ConsoleFiles } from './console-files.js';

const PAGE_HEADERS = {
  // The page is always asked for anew: it names the files of the release, and holds the nonce of its policy.
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

/** A request of the console counts as this in the log and in the metrics. */
const PAGE = { path: '(console)', quiet: false };
const ASSET = { path: '(console)/assets', quiet: true };

/** `files` undefined: the console is not built, and the root says so. */
export function serveConsole(files: ConsoleFiles | undefined): AppMiddleware {
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if (files === undefined) return ctx.path === '/' ? answerNotBuilt(ctx) : next();
    const asset = files.assets.get(ctx.path);
    if (asset !== undefined) return answerAsset(ctx, asset);
    if (files.isAddress(ctx.path)) return answerPage(ctx, files.page, 200);
    try {
      return await next();
    } catch (error) {
      if (!isUnknownAddress(ctx as AppContext, error)) throw error;
      return answerPage(ctx, files.page, 404);
    }
  };
}

/**
 * Returns whether a browser asks for an address that nobody knows. It gets the page, which says so and has the
 * navigation. Programs, which do not ask for HTML by name, get the answer of the interface.
 */
function isUnknownAddress(ctx: AppContext, error: unknown): boolean {
  const isUnmatched = ctx.state.route === undefined && (ctx.matched ?? []).length === 0;
  const wantsPage = ctx.get('Accept').toLowerCase().includes('text/html');
  return isUnmatched && wantsPage && !ctx.path.startsWith('/assets/') && (error as { status?: unknown }).status === 404;
}

type Context = Pick<AppContext, 'state' | 'set' | 'vary' | 'acceptsEncodings' | 'status' | 'body' | 'type'>;

function answerPage(ctx: Context, page: string, status: number): void {
  const nonce = randomBytes(16).toString('base64');
  ctx.state.console = PAGE;
  ctx.set({ ...PAGE_HEADERS, 'Content-Security-Policy': policyWith(nonce) });
  ctx.status = status;
  ctx.body = page.replaceAll('%NONCE%', nonce);
}

/**
 * The policy allows only files of our own, and connections to us alone. The nonce is for the style elements that
 * libraries write.
 */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
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
