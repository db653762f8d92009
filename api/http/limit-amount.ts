import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { documentedAs } from './documented-as.js';

const PLAIN_DECIMAL = /^\d{1,12}(\.\d{1,18})?$/;

/** A money limit in USD as plain decimal text, because a JSON number would lose digits. */
export const limitAmount = documentedAs(
  z
    .string('A decimal string is required.')
    .refine((text) => PLAIN_DECIMAL.test(text), 'A decimal string in USD is required, such as "12.50".')
    .transform((text) => new Decimal(text).toFixed()),
  { type: 'string', pattern: PLAIN_DECIMAL.source, description: 'USD, a plain decimal' },
);
