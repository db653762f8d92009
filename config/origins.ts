import { z } from 'zod';

/** Comma-separated origins of pages, written as browsers send them: scheme, host and port, without a path. */
export const originList = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== ''))
  .refine(
    (origins) => origins.every(isOrigin),
    "must be comma-separated origins, such as 'https://app.example.com,http://localhost:5173', without a path",
  );

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
