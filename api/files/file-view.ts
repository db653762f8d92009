import { z } from 'zod';
import { expiryOf, type FileFacts } from '../../db/files/files-repository.js';
import { toFileValue } from '../../files/file-value.js';

export const fileValueSchema = z
  .object({
    file_id: z.uuid(),
    name: z.string(),
    type: z.string().describe('The media type, as it was declared'),
    size: z.int().describe('In bytes'),
    sha256: z.string(),
  })
  .meta({ id: 'File' });

const HOLDERS = {
  run: 'runs',
  pin: 'pins',
  case: 'cases',
  drawing: 'drawings',
  schedule: 'schedules',
  message: 'messages',
} as const;

export const fileSchema = fileValueSchema
  .extend({
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable().describe('Null while something refers to the file'),
    used_by: z.object({
      runs: z.int(),
      pins: z.int(),
      cases: z.int(),
      drawings: z.int(),
      schedules: z.int(),
      messages: z.int(),
    }),
  })
  .meta({ id: 'FileFacts' });

export function toFile(file: FileFacts, retentionDays: number): z.infer<typeof fileSchema> {
  const counts = Object.entries(HOLDERS).map(([kind, name]) => [name, file.usedBy[kind as keyof typeof HOLDERS] ?? 0]);
  const usedBy = Object.fromEntries(counts) as z.infer<typeof fileSchema>['used_by'];
  const isUsed = Object.values(usedBy).some((count) => count > 0);
  return {
    ...toFileValue(file),
    created_at: file.createdAt.toISOString(),
    expires_at: isUsed ? null : expiryOf(file, retentionDays).toISOString(),
    used_by: usedBy,
  };
}
