import { nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { projectSchema, projectSettingsSchema } from '@pawl/schema/record';
import * as z from 'zod';
import { agentViewSchema } from '../view.ts';

const word = z
  .string()
  .min(1)
  .max(4096)
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

/** Names a project: by a path inside it, or by its name or id. */
export const projectReferenceSchema = z.object({ path: word.optional(), project: word.optional() });
export type ProjectReference = z.infer<typeof projectReferenceSchema>;

/** Settings to change; absent ones stay unchanged. */
export const projectSettingsBodySchema = projectReferenceSchema.extend({
  /** Null removes the project's own choice. */
  provider: nameSchema.nullable().optional(),
});
export type ProjectSettingsBody = z.infer<typeof projectSettingsBodySchema>;

export const projectSettingsAnswerSchema = z.object({ project: projectSchema, settings: projectSettingsSchema });
export type ProjectSettingsAnswer = z.infer<typeof projectSettingsAnswerSchema>;

/** A project with its settings and the number of its agents. */
export const projectDetailSchema = z.object({
  project: projectSchema,
  settings: projectSettingsSchema,
  agents: z.object({ living: z.number().int(), atWork: z.number().int() }),
});
export type ProjectDetail = z.infer<typeof projectDetailSchema>;
export const projectDetailsSchema = z.object({ projects: z.array(projectDetailSchema) });
export type ProjectDetails = z.infer<typeof projectDetailsSchema>;

export const untrackBodySchema = projectReferenceSchema.extend({
  /** Stops working agents instead of refusing. */
  force: z.boolean().optional(),
});
export type UntrackBody = z.infer<typeof untrackBodySchema>;

/** The project, and the provider settings from the person's shell. */
export const crewBodySchema = projectReferenceSchema.extend({
  provider: nameSchema.optional(),
  environment: z.record(z.string().max(200), z.string().max(32_768)).optional(),
  /** The PATH of the requesting shell, where programs are looked up. */
  searchPath: z.string().max(limits.searchPathCharacters).optional(),
});
export type CrewBody = z.infer<typeof crewBodySchema>;

/** The crew of a project: each role, and the living agent that has it. */
export const crewViewSchema = z.object({
  project: projectSchema,
  /** Whether missing ones are started automatically. */
  wanted: z.boolean(),
  members: z.array(z.object({ role: nameSchema, agent: agentViewSchema.nullable() })),
});
export type CrewView = z.infer<typeof crewViewSchema>;
