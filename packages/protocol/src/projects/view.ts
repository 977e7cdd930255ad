import { nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { projectSchema, projectSettingsSchema } from '@pawl/schema/record';
import * as z from 'zod';
import { agentViewSchema } from '../agents/view.ts';
import { path } from '../fields.ts';

/** The project checks that `init` detected, and whether it wrote them down. */
export const checksFoundSchema = z.object({
  /** The file that names them. */
  file: z.string(),
  /** Commands, and the files they were detected from. */
  found: z.array(z.object({ run: z.string(), from: z.string() })),
  /** `kept`: the project has such a file, which stays unchanged. `not-found`: there is nothing to write. */
  outcome: z.enum(['written', 'kept', 'not-found', 'failed']),
  /** Why it could not be written. */
  reason: z.string().nullable(),
});
export type ChecksFound = z.infer<typeof checksFoundSchema>;

export const projectListSchema = z.object({ projects: z.array(projectSchema) });

/** The treatment of an agent's branch when the agent is done. */
export const whenDoneSchema = z.object({
  outcome: z.enum(['nothing', 'checked', 'merged', 'merged-and-pushed']),
  text: z.string(),
});

/** How a project merges, once its configuration is committed. */
const mergingSchema = whenDoneSchema.extend({
  /** The target branch. */
  branch: z.string(),
  /** The remote that a merge pushes to. */
  remote: z.object({ name: z.string(), url: z.string() }).nullable(),
  pushAllowed: z.boolean(),
  /** Says that the configuration must be committed first, with the commands; null if it is. */
  notCommitted: z.string().nullable(),
});
export type Merging = z.infer<typeof mergingSchema>;

export const addProjectSchema = z.object({
  path: path,
  name: nameSchema.optional(),
  /** Detects its checks, and writes them into its checkout if there is no configuration. */
  checks: z.boolean().optional(),
  /** The provider of the project's new agents; absent leaves the setting unchanged. */
  provider: nameSchema.optional(),
  /** The written configuration merges changes automatically. */
  autoMerge: z.boolean().optional(),
});
export type AddProjectBody = z.infer<typeof addProjectSchema>;

export const projectAddedSchema = z.object({
  project: projectSchema,
  created: z.boolean(),
  /** It was known and untracked before. */
  trackedAgain: z.boolean(),
  /** Null if not requested. */
  checks: checksFoundSchema.nullable(),
  /** The effect of the configuration on merging and pushing; null if it cannot be read. */
  merging: mergingSchema.nullable(),
});
export type ProjectAdded = z.infer<typeof projectAddedSchema>;

/** Names a project: by a path inside it, or by its name or id. */
export const projectReferenceSchema = z.object({ path: path.optional(), project: path.optional() });
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
