import * as z from 'zod';
import { modelServerLimits } from './limit.ts';

const text = z.string().max(modelServerLimits.stepCharacters);
const count = z.number().int().min(0).max(1_000_000_000);
const moment = z.number().int().min(0).max(100_000_000_000);
const yes = z.literal(true);

export const errorKinds = [
  'limit',
  'limit-reset',
  'quota',
  'overload',
  'auth',
  'bad-request',
  'context',
  'server-error',
] as const;
export type ErrorKind = (typeof errorKinds)[number];

const errorStep = z.strictObject({
  error: z.enum(errorKinds),
  /** Only for API keys that contain this; for others the step is skipped. */
  key: z.string().min(1).optional(),
  /** Seconds until a limit ends; only `limit-reset` reports it. */
  resetsInSeconds: count.optional(),
  /** The end of the limit in seconds since 1970: reported as the reset time; afterwards the step is skipped. */
  until: moment.optional(),
});
export type ErrorStep = z.infer<typeof errorStep>;

const namedTool = z.strictObject({ name: z.string().min(1), input: z.record(z.string(), z.unknown()).default({}) });

/** One step of a scenario: an object with the step's name as its key. */
export const stepSchema = z.union([
  z.strictObject({ say: text }),
  z.strictObject({ think: text }),
  z.strictObject({ shell: text }),
  z.strictObject({ write: z.strictObject({ path: text.min(1), content: text }) }),
  z.strictObject({ tool: namedTool }),
  z.strictObject({ tools: z.array(namedTool).min(1).max(modelServerLimits.callsTogether) }),
  z.strictObject({ mcp: z.union([yes, z.record(z.string(), z.unknown())]) }),
  z.strictObject({ signal: z.record(z.string(), z.unknown()) }),
  errorStep,
  z.strictObject({ slow: z.strictObject({ ms: z.number().min(0).max(modelServerLimits.chunkMs) }) }),
  z.strictObject({ cut: yes }),
  z.strictObject({ malformed: yes }),
  z.strictObject({ hang: yes }),
  z.strictObject({ usage: z.strictObject({ input: count, output: count, cached: count.default(0) }) }),
]);
export type Step = z.infer<typeof stepSchema>;

export const stepsSchema = z.array(stepSchema).max(modelServerLimits.steps);

/** The model's actions in a turn, as data: a scenario file is this as JSON or YAML. */
export const scenarioSchema = z.strictObject({
  steps: stepsSchema,
  /** The steps of later user turns; by default the same as for the first. */
  followUp: stepsSchema.optional(),
  /** True to repeat the steps, so that the turn never ends. */
  repeat: z.boolean().optional(),
});
export type Scenario = z.infer<typeof scenarioSchema>;

/** A scenario as a person writes it, before defaults are filled in. */
export type ScenarioInput = z.input<typeof scenarioSchema>;
