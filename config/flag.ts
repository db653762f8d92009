import { z } from 'zod';

/** A variable that is on or off, in the usual words. */
export const flag = z.stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] });
