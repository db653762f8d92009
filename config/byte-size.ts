import { z } from 'zod';

const UNITS: Record<string, number> = { '': 1, MiB: 2 ** 20, GiB: 2 ** 30 };

/** A number of bytes, or of MiB or GiB (`10 GiB`). Yields bytes. */
export const byteSize = z.string().transform((text, context) => {
  const [, digits = '', unit = ''] = /^(\d{1,15}) ?(MiB|GiB)?$/.exec(text.trim()) ?? [];
  const bytes = Number(digits) * UNITS[unit]!;
  if (digits !== '' && bytes >= 1 && Number.isSafeInteger(bytes)) return bytes;
  context.addIssue({ code: 'custom', message: 'must be a number of bytes, or one with MiB or GiB' });
  return z.NEVER;
});
