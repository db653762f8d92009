import type { Middleware } from 'koa';

/** The kernel buffers this much at once. */
const SMALL_BYTES = 64 * 1024;

interface Pace {
  graceMs: number;
  bytesPerSecond: number;
}

const PACE: Pace = { graceMs: 30_000, bytesPerSecond: 32 * 1024 };

/**
 * A complete answer stays in memory until the caller has received it. A caller that takes longer than `graceMs`, plus
 * the time for the answer at `bytesPerSecond`, is therefore disconnected. What api/http/send-answer.ts writes is exempt
 * (`ctx.respond` is false): it limits the time of each slice, and a stream is never in memory as a whole.
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
