// The variables of files: their store, and their maximum size (docs/operate/operations.md, "Environment").
import path from 'node:path';
import { z } from 'zod';
import { byteSize, ConfigError } from './variable-types.js';

export const fileVariables = {
  FILES_DIR: z.string().min(1).optional(),
  FILES_S3_BUCKET: z.string().min(1).optional(),
  FILES_S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be a URL' }).optional(),
  FILES_S3_REGION: z.string().min(1).optional(),
  MAX_FILE_BYTES: byteSize.default(100 * 2 ** 20),
};

export interface FileSettings {
  /** The store of the bytes: a folder, or a bucket of S3. */
  fileStore: { folder: string } | { bucket: string; endpoint: string | undefined; region: string };
}

const AWS_REGION = 'us-east-1';

/** Throws `ConfigError`. */
export function toFileSettings(
  values: z.infer<z.ZodObject<typeof fileVariables>> & { DATA_DIR: string },
): FileSettings {
  const { FILES_DIR, FILES_S3_BUCKET, FILES_S3_ENDPOINT, FILES_S3_REGION, DATA_DIR } = values;
  if (FILES_S3_BUCKET === undefined) {
    if (FILES_S3_ENDPOINT ?? FILES_S3_REGION) throw new ConfigError('FILES_S3_BUCKET: must be set with the others.');
    return { fileStore: { folder: path.resolve(FILES_DIR ?? path.join(DATA_DIR, 'files')) } };
  }
  if (FILES_DIR !== undefined) throw new ConfigError('FILES_DIR: must not be set together with FILES_S3_BUCKET.');
  const region = FILES_S3_REGION ?? AWS_REGION;
  return { fileStore: { bucket: FILES_S3_BUCKET, endpoint: FILES_S3_ENDPOINT, region } };
}
