import { nameSchema } from '@pawl/schema/id';
import { projectSchema, projectSettingsSchema } from '@pawl/schema/record';
import * as z from 'zod';

const word = z
  .string()
  .min(1)
  .max(4096)
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

/** Names a project: by a path inside it, or by its name or id. */
export const projectReferenceSchema = z.object({ path: word.optional(), project: word.optional() });
export type ProjectReference = z.infer<typeof projectReferenceSchema>;

/** Settings to change; those that are absent stay as they are. */
export const projectSettingsBodySchema = projectReferenceSchema.extend({
  /** Null removes the project's own choice. */
  provider: nameSchema.nullable().optional(),
});
export type ProjectSettingsBody = z.infer<typeof projectSettingsBodySchema>;

export const projectSettingsAnswerSchema = z.object({ project: projectSchema, settings: projectSettingsSchema });
export type ProjectSettingsAnswer = z.infer<typeof projectSettingsAnswerSchema>;
