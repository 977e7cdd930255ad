import * as z from 'zod';
import { parseDuration } from './duration.ts';
import { scriptedLimits } from './limit.ts';

const duration = z.string().transform((text, context) => {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs <= scriptedLimits.durationMs) return durationMs;
  context.addIssue({ code: 'custom', message: 'expected a duration of at most 24h, such as "500ms", "2s" or "1m"' });
  return z.NEVER;
});

/** For steps that work without any field: `- hang`, `- hang:` and `- hang: true` all mean the same. */
function optional<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === null || value === undefined || value === true ? {} : value), schema);
}

const nothing = optional(z.strictObject({}));
const file = z.strictObject({ path: z.string().min(1), content: z.string() });
const question = z.union([z.string(), z.strictObject({ id: z.string(), question: z.string() })]);

const signalStatuses = ['done', 'questions', 'error', 'partial', 'late'] as const;
const signal = z.preprocess(
  (value) => (typeof value === 'string' ? { status: value } : value),
  z.strictObject({
    status: z.enum(signalStatuses),
    result: z.string().optional(),
    questions: z.array(question).min(1).optional(),
    error: z.string().optional(),
    delay: duration.optional(),
  }),
);

const crashSignals = ['SIGABRT', 'SIGBUS', 'SIGHUP', 'SIGINT', 'SIGKILL', 'SIGSEGV', 'SIGTERM'] as const;

/** When a usage limit ends: a moment in seconds since 1970, or some time from when the step is played. */
const until = z
  .union([z.string(), z.number().int().positive()])
  .transform((value, context): { seconds: number } | { afterMs: number } => {
    if (typeof value === 'number') return { seconds: value };
    const afterMs = parseDuration(value);
    if (afterMs !== undefined && afterMs <= scriptedLimits.durationMs) return { afterMs };
    if (z.iso.datetime({ offset: true }).safeParse(value).success)
      return { seconds: Math.round(Date.parse(value) / 1000) };
    context.addIssue({
      code: 'custom',
      message: 'expected a time such as "2030-01-01T00:00:00Z", seconds since 1970, or a duration such as "5m"',
    });
    return z.NEVER;
  });

/** The value after the key of each step. `repeat.steps` is read with the list itself. */
export const stepSchemas = {
  say: z.string(),
  think: z.string(),
  write: file,
  append: file,
  shell: z.string().min(1),
  commit: z.string().min(1),
  sleep: duration,
  tool: z.strictObject({
    name: z.string().min(1),
    input: z.record(z.string(), z.unknown()).default({}),
    result: z.string().default(''),
    is_error: z.boolean().default(false),
    takes: duration.optional(),
  }),
  permit: z.strictObject({
    name: z.string().min(1),
    input: z.record(z.string(), z.unknown()).default({}),
    times: z.number().int().min(1).max(scriptedLimits.scenarioSteps).default(1),
    /** Adds so many bytes to the input. */
    bytes: z.number().int().min(1).max(scriptedLimits.noiseBytes).optional(),
    cancel: duration.optional(),
    /** The subagent that asks. */
    owner: z.string().min(1).max(200).optional(),
  }),
  mail: z.strictObject({ to: z.string().min(1), body: z.string() }),
  ask: z.strictObject({ to: z.string().min(1), question: z.string() }),
  answer: z.strictObject({ conversation: z.string().min(1), body: z.string() }),
  pawl: z.array(z.string()).min(1),
  wait: nothing,
  complete: optional(z.strictObject({ summary: z.string().optional() })),
  signal,
  crash: optional(
    z
      .strictObject({ code: z.number().int().min(0).max(255).optional(), signal: z.enum(crashSignals).optional() })
      .refine((value) => value.code === undefined || value.signal === undefined, 'takes code or signal, not both'),
  ),
  hang: optional(z.strictObject({ ignore_term: z.boolean().default(false), once: z.boolean().default(false) })),
  flood: z.strictObject({
    lines: z.number().int().min(0).max(scriptedLimits.floodLines),
    bytes: z.number().int().min(1).max(scriptedLimits.noiseBytes).optional(),
  }),
  garbage: optional(
    z.strictObject({
      bytes: z.number().int().min(1).max(scriptedLimits.noiseBytes).default(1024),
      seed: z.number().int().default(1),
      line_bytes: z.number().int().min(1).max(scriptedLimits.noiseBytes).optional(),
    }),
  ),
  limit: optional(z.strictObject({ until: until.optional() })),
  fail: z.strictObject({ status: z.number().int().min(400).max(599).optional(), text: z.string().min(1) }),
  fork_child: z.strictObject({
    detach: z.boolean().default(true),
    seconds: z.number().positive().max(scriptedLimits.childSeconds),
  }),
  repeat: z.strictObject({
    times: z.number().int().min(1).max(scriptedLimits.scenarioSteps),
    steps: z.array(z.unknown()).min(1),
  }),
  usage: z.strictObject({
    input: z.number().int().nonnegative(),
    output: z.number().int().nonnegative(),
    cache: z.number().int().nonnegative().default(0),
    cost: z.number().nonnegative().default(0),
  }),
  stream: z.strictObject({
    text: z.string(),
    for: duration.default(1_000),
    pieces: z.number().int().min(1).max(scriptedLimits.streamPieces).default(5),
  }),
  echo_prompt: nothing,
  read_inputs: nothing,
  recall: nothing,
  inbox: nothing,
  print_env: z.string().min(1),
} as const;
