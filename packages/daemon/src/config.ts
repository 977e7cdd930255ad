import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { nameSchema } from '@pawl/schema/id';
import { ownServer } from '@pawl/schema/mcp';
import type { Budget } from '@pawl/schema/record';
import { budgetSchema, noBudget } from '@pawl/schema/record';
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Choices, Timing } from './workshop.ts';
import { usualChoices } from './workshop.ts';

const text = z.string().max(8_192);
const variable = z.string().regex(/^[A-Za-z_]\w{0,127}$/, 'a variable is letters, digits and _');

/** A server of tools for every session: a program, or an address. */
const mcpServerSchema = z.union(
  [
    z.strictObject({
      command: text.min(1),
      args: z.array(text).max(200).default([]),
      env: z.record(variable, text).default({}),
    }),
    z.strictObject({
      url: z.url({ protocol: /^https?$/ }),
      headers: z.record(z.string().regex(/^[\w-]{1,128}$/, 'a header is letters, digits and -'), text).default({}),
    }),
  ],
  { error: 'an MCP server is {command, args, env} or {url, headers}' },
);

const budget = z
  .strictObject(budgetSchema.partial().shape)
  .transform((given): Budget => ({ ...noBudget, ...dropUndefined(given) }));

const configSchema = z.strictObject({
  /** The port on 127.0.0.1; 0 takes a free one. */
  port: z.number().int().min(0).max(65_535).default(0),
  /** The provider of work whose definition names none. */
  provider: nameSchema.default(usualChoices.provider),
  /** Switches a person to the child after a fork, unless the fork says otherwise. */
  switch_on_fork: z.boolean().default(usualChoices.switchOnFork),
  /** Sessions that may run at once; the others wait their turn. */
  max_sessions: z.number().int().min(1).max(10_000).default(usualChoices.maxSessions),
  /** Agents that may be at work at once; the others wait their turn. */
  max_agents: z.number().int().min(1).max(100_000).default(usualChoices.maxAgents),
  /** Providers whose agents go on with another account when theirs has reached a limit. */
  rotate_accounts: z.array(nameSchema).max(100).default(usualChoices.rotateAccounts),
  /** What every agent, every run, and a project in a day may use. */
  budgets: z
    .strictObject({
      agent: budget.default(noBudget),
      task: budget.default(noBudget),
      project: budget.default(noBudget),
    })
    .default(usualChoices.budgets),
  /** Servers of tools that every session is given whose provider takes them. */
  mcp_servers: z
    .record(
      z.string().regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'a server’s name is letters, digits, _ and -'),
      mcpServerSchema,
    )
    .refine(
      (servers) => Object.keys(servers).every((name) => name.toLowerCase() !== ownServer),
      `${ownServer} is the name of Pawl’s own server; choose another`,
    )
    .default(usualChoices.mcpServers),
  /** Lets every repository's own settings for coding CLIs count, as if each had been trusted. */
  trust_repository_settings: z.boolean().default(usualChoices.trustRepositorySettings),
  /** Whether agents are asked now and then how they are getting on. */
  nudges: z.enum(['smart', 'fixed', 'off']).default(usualChoices.nudges),
  /** What becomes of a question to the person that nobody answers in time. */
  questions: z
    .strictObject({
      deadline_minutes: z.number().positive().max(100_000).nullable().default(null),
      policy: z.enum(['park', 'decide']).default('park'),
    })
    .default({ deadline_minutes: null, policy: 'park' }),
  /** How often the loops look, in seconds. */
  timers: z
    .strictObject({
      route_seconds: z.number().positive().max(86_400),
      health_seconds: z.number().positive().max(86_400),
      nudge_seconds: z.number().positive().max(86_400),
      nudge_gap_seconds: z.number().positive().max(86_400),
    })
    .partial()
    .default({}),
  /** Providers that a person adds or overrides. Each is looked at for itself, when the daemon starts. */
  providers: z.record(z.string(), z.unknown()).default({}),
});
export type Config = z.infer<typeof configSchema>;

/** What a config file chooses. */
export function choicesOf(config: Config): Choices {
  return {
    provider: config.provider,
    switchOnFork: config.switch_on_fork,
    maxSessions: config.max_sessions,
    maxAgents: config.max_agents,
    rotateAccounts: config.rotate_accounts,
    budgets: config.budgets,
    mcpServers: config.mcp_servers,
    trustRepositorySettings: config.trust_repository_settings,
    nudges: config.nudges,
    questions: {
      deadlineMs: config.questions.deadline_minutes === null ? null : config.questions.deadline_minutes * 60_000,
      policy: config.questions.policy,
    },
  };
}

/** How often the loops look, where a config file says so. */
export function timingOf({ timers }: Config): Partial<Timing> {
  const { route_seconds: route, health_seconds: health, nudge_seconds: nudge, nudge_gap_seconds: gap } = timers;
  const given = { routeMs: route, healthMs: health, nudgeMs: nudge, nudgeGapMs: gap };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, seconds]) => (seconds === undefined ? [] : [[name, seconds * 1_000]])),
  );
}

function dropUndefined<T extends object>(given: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}

/** A config file is small; anything larger, or with many aliases, is not one. */
const configBytes = 256 * 1024;
const aliases = 50;

/** Reads `config.yaml`. A file that is not there means the defaults; one that is wrong is refused with the place. */
export async function readConfig(path: string, environment: NodeJS.ProcessEnv = process.env): Promise<Config> {
  const parsed = configSchema.safeParse(await readFile(path));
  if (!parsed.success) {
    throw new PawlError('invalid_input', `${path} is not right: ${z.prettifyError(parsed.error)}`, {
      hint: 'Correct it, or move it away to use the defaults.',
    });
  }
  const port = environment['PAWL_PORT'];
  if (!port) return parsed.data;
  if (/^\d{1,5}$/.test(port) && Number(port) < 65_536) return { ...parsed.data, port: Number(port) };
  throw new PawlError('invalid_input', `PAWL_PORT is ${JSON.stringify(port)}, which is no port.`, {
    hint: 'Set it to a number from 0 to 65535, or unset it.',
  });
}

async function readFile(path: string): Promise<unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return {};
    throw error;
  }
  if (text.length > configBytes)
    throw new PawlError('invalid_input', `${path} has more than ${configBytes} characters.`);
  // Few homes have a config file; the others need not carry the parser.
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(text, { maxAliasCount: aliases });
    return value ?? {};
  } catch (error) {
    throw new PawlError('invalid_input', `${path} is not YAML: ${messageOf(error)}`, { cause: error });
  }
}
