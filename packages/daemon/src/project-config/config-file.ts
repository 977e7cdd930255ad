import { gateLimits } from '@pawl/core/guard/gate-limit';
import { parseRule } from '@pawl/core/rules/rule-match';
import { checkBranchName } from '@pawl/git/repository/branch-name';
import { accessLevels } from '@pawl/schema/access-level';
import { mergeMethods } from '@pawl/schema/change';
import { messageOf, PawlError } from '@pawl/schema/error';
import { nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { fileRulesSchema } from '@pawl/schema/rule';
import * as z from 'zod';
import { loadReadYaml } from '../definitions/read-yaml.ts';

/** The path of a repository's configuration. */
export const configPath = '.pawl/config.yaml';

const command = z
  .string()
  .trim()
  .min(1, 'a command has at least one character')
  .max(gateLimits.commandCharacters)
  .refine((text) => !text.includes('\0'), 'a command has no NUL character');
const pattern = z
  .string()
  .min(1)
  .max(gateLimits.patternCharacters)
  .refine((text) => !text.startsWith('/') && !text.split('/').includes('..'), 'a pattern stays below the root');
const patterns = z.array(pattern).max(gateLimits.patterns);
const minutes = limits.longestCheckMs / 60_000;

/** Accepts a single value in place of a list. */
const listOf = (value: unknown) => (value === undefined || Array.isArray(value) ? value : [value]);

const check = z.preprocess(
  (value) => (typeof value === 'string' ? { run: value } : value),
  z.strictObject(
    {
      name: z.string().trim().min(1).max(100).optional(),
      run: command,
      timeout_minutes: z.number().positive().max(minutes, `a check may take ${minutes} minutes at the most`).optional(),
      junit: z.preprocess(listOf, patterns.optional()),
      network: z.boolean().optional(),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'a check is a command, or {name, run, …}' : undefined) },
  ),
);

const variable = z
  .string()
  .regex(/^[A-Za-z_]\w{0,127}$/, 'a variable is letters, digits and _')
  .refine((name) => !name.startsWith('PAWL_'), 'names that begin with PAWL_ are reserved');

const staff = z.strictObject({
  as: nameSchema.optional(),
  provider: nameSchema.optional(),
  model: z.string().min(1).max(200).optional(),
  options: z
    .record(z.string().max(100), z.union([z.string().max(2_000), z.number(), z.boolean()]).transform(String))
    .optional(),
});
const someone = z.union([z.boolean(), staff], { error: 'say true, false, or {as, provider, model, options}' });

const branch = z.string().superRefine((name, context) => {
  try {
    checkBranchName(name);
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) });
  }
});

const rules = fileRulesSchema.superRefine((given, context) => {
  for (const [index, { effect, match }] of given.entries()) {
    try {
      parseRule(effect, match);
    } catch (error) {
      context.addIssue({ code: 'custom', path: [index], message: messageOf(error) });
    }
  }
});

const configSchema = z.strictObject({
  checks: z.preprocess(listOf, z.array(check).max(gateLimits.checks).default([])),
  env: z.array(variable).max(gateLimits.variables).default([]),
  queue: z
    .strictObject({
      enabled: z.boolean(),
      branch,
      merge: z.enum(mergeMethods),
      batch: z.number().int().min(1).max(limits.mostBatchChanges),
      parallel: z.number().int().min(1).max(64),
      remote: z.union([z.literal(false), nameSchema]),
      auto: z.boolean(),
      forge: z.enum(['local', 'github']),
      track: z.enum(['all', 'author', 'assigned']),
      guard: z.boolean(),
      guard_paths: patterns,
    })
    .partial()
    .default({}),
  access: z.enum(accessLevels).nullable().default(null),
  rules,
  sandbox: z.strictObject({ network: z.boolean() }).partial().default({}),
  playground: z.boolean().default(false),
  review: someone.default(false),
  fixer: someone.default(true),
});
export type ConfigFile = z.infer<typeof configSchema>;

/** Parses a config file. Throws with the location of the error: an unreadable gate must never count as an open one. */
export async function parseConfigFile(text: string, place: string): Promise<ConfigFile> {
  if (text.length > gateLimits.configBytes) throw wrong(place, `it has more than ${gateLimits.configBytes} characters`);
  const read = (await loadReadYaml())(text);
  if (!read.ok) throw wrong(`${place}:${read.line}`, read.reason.replace('the front matter', 'it'));
  // Treat a key without a value as missing.
  const fields = read.fields.filter(({ name, value }) => value !== null || !Object.hasOwn(configSchema.shape, name));
  const parsed = configSchema.safeParse(Object.fromEntries(fields.map(({ name, value }) => [name, value])));
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const line = read.fields.find(({ name }) => name === (first?.path[0] ?? unknownKey(first)))?.line;
  throw wrong(line === undefined ? place : `${place}:${line}`, z.prettifyError(parsed.error), hintFor(first));
}

function wrong(place: string, what: string, hint = 'Correct it. Until then nothing is merged.'): PawlError {
  return new PawlError('invalid_input', `${place} is invalid: ${what}`, { hint });
}

type Issue = z.core.$ZodIssue;

function unknownKey(issue: Issue | undefined): string | undefined {
  return issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
}

/** Lists the valid keys after an unknown one. */
function hintFor(issue: Issue | undefined): string | undefined {
  if (unknownKey(issue) === undefined) return undefined;
  const { queue } = configSchema.shape;
  const isQueue = issue?.path[0] === 'queue';
  const keys = Object.keys(isQueue ? queue.unwrap().shape : configSchema.shape);
  return `There are: ${keys.join(', ')}${isQueue ? ' (below queue)' : ''}. Until it is corrected nothing is merged.`;
}
