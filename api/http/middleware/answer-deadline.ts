import type { Middleware } from 'koa';

/** As much as the kernel takes off our hands at once. */
const SMALL_BYTES = 64 * 1024;

interface Pace {
  graceMs: number;
  bytesPerSecond: number;
}

const PACE: Pace = { graceMs: 30_000, bytesPerSecond: 32 * 1024 };

/**
 * An answer that was built waits in memory until the caller has taken it. Whoever takes it more slowly than any modem is
 * cut off. A stream waits at its source instead, which has its own limits.
 */
export function answerDeadline({ graceMs, bytesPerSecond }: Pace = PACE): Middleware {
  return async (ctx, next) => {
    await next();
    const sizeBytes = ctx.respond === false ? 0 : (ctx.length ?? 0);
    if (sizeBytes <= SMALL_BYTES) return;
    const cut = setTimeout(() => ctx.req.socket.destroy(), graceMs + (sizeBytes / bytesPerSecond) * 1000);
    ctx.res.once('close', () => clearTimeout(cut));
  };
}
