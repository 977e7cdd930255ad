import * as z from 'zod';
import { accessLevels } from './access-level.ts';
import { nameSchema } from './id.ts';
import { ownServer } from './mcp.ts';
import { namedModelsSchema } from './model/named-model.ts';
import type { Budget } from './record.ts';
import { budgetSchema, noBudget } from './record.ts';
import { fileRulesSchema } from './rule.ts';

/** A config file is small; anything larger, or with many aliases, is refused. */
export const homeConfigLimits = { characters: 256 * 1024, aliases: 50 } as const;

/** Keys that the daemon rereads for each request; the others need a restart. */
export const liveConfigKeys: readonly string[] = [
  'provider',
  'access',
  'switch_on_fork',
  'rules',
  'models',
  'default_model',
];

const text = z.string().max(8_192);
const variable = z.string().regex(/^[A-Za-z_]\w{0,127}$/, 'a variable is letters, digits and _');

/** A tool server for every session: a program, or a URL. */
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

/** Generous bounds of a sandbox: a fork bomb or a leak hits them, and a build does not. */
export const defaultSandboxLimits = { memoryBytes: 8 * 1024 ** 3, processes: 4_096, fileBytes: 8 * 1024 ** 3 } as const;

const directory = z
  .string()
  .max(4_096)
  .regex(/^(?:~?\/[^\0]*)$/, 'a directory is an absolute path, or begins with ~/');
const gigabytes = z.number().positive().max(100_000).nullable().default(8);

const sandboxOptions = z.strictObject({
  /** Further directories that agents and checks may read, or write. */
  readable: z.array(directory).max(200).default([]),
  writable: z.array(directory).max(200).default([]),
  /** The memory of a process, and of all together where a control group limits it; the size of one file; null for no limit. */
  memory_gb: gigabytes,
  file_gb: gigabytes,
  processes: z.number().int().positive().max(1_000_000).nullable().default(defaultSandboxLimits.processes),
});

/** All settings of the home's `config.yaml`. */
export const homeConfigSchema = z.strictObject({
  /** The port on 127.0.0.1; 0 takes a free one. */
  port: z.number().int().min(0).max(65_535).default(0),
  /** The default provider of new agents. */
  provider: nameSchema.nullable().default(null),
  /** The default access of new agents; null leaves it to Pawl. */
  access: z.enum(accessLevels).nullable().default(null),
  /** Models of the engine by name, and the name or model that it uses by default. */
  models: namedModelsSchema.default({}),
  default_model: z.string().min(1).max(200).nullable().default(null),
  /** Rules for all agents: actions allowed or denied without asking. */
  rules: fileRulesSchema,
  /** Switches a person to the child after a fork, unless the fork says otherwise. */
  switch_on_fork: z.boolean().default(false),
  /** Concurrent sessions; the others wait. */
  max_sessions: z.number().int().min(1).max(10_000).default(256),
  /** Concurrently working agents; the others wait. */
  max_agents: z.number().int().min(1).max(100_000).default(2_048),
  /** Providers whose agents rotate to another account at a limit. */
  rotate_accounts: z.array(nameSchema).max(100).default([]),
  /** Limits for every agent, every run, and a project per day. */
  budgets: z
    .strictObject({
      agent: budget.default(noBudget),
      task: budget.default(noBudget),
      project: budget.default(noBudget),
    })
    .default({ agent: noBudget, task: noBudget, project: noBudget }),
  /** Tool servers for every session whose provider supports them. */
  mcp_servers: z
    .record(
      z.string().regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'a server’s name is letters, digits, _ and -'),
      mcpServerSchema,
    )
    .refine(
      (servers) => Object.keys(servers).every((name) => name.toLowerCase() !== ownServer),
      `${ownServer} is the name of Pawl’s own server; choose another`,
    )
    .default({}),
  /** Trusts every repository's own settings for coding CLIs. */
  trust_repository_settings: z.boolean().default(false),
  /** Whether sessions with an API key call their model through the proxy, which keeps the key. */
  proxy: z.boolean().default(true),
  /**
   * Whether sessions reach every host, or only listed ones: their provider's, and those of network rules. `auto` is
   * `listed` in a sandbox, and `open` without one.
   */
  network: z.enum(['auto', 'open', 'listed']).default('auto'),

  /** Whether sessions and checks run in a sandbox: if there is one, never, or else not at all. */
  sandbox: z.enum(['auto', 'off', 'required']).default('auto'),
  sandbox_options: sandboxOptions.default(() => sandboxOptions.parse({})),
  /** Whether agents are nudged. */
  nudges: z.enum(['smart', 'fixed', 'off']).default('smart'),
  /** The treatment of a question to the person without an answer in time. */
  questions: z
    .strictObject({
      deadline_minutes: z.number().positive().max(100_000).nullable().default(null),
      policy: z.enum(['park', 'decide']).default('park'),
    })
    .default({ deadline_minutes: null, policy: 'park' }),
  /** The intervals of the loops, in seconds. */
  timers: z
    .strictObject({
      route_seconds: z.number().positive().max(86_400),
      health_seconds: z.number().positive().max(86_400),
      nudge_seconds: z.number().positive().max(86_400),
      nudge_gap_seconds: z.number().positive().max(86_400),
    })
    .partial()
    .default({}),
  /** Custom providers. Each is validated separately, when the daemon starts. */
  providers: z.record(z.string(), z.unknown()).default({}),
});
export type HomeConfig = z.infer<typeof homeConfigSchema>;

function dropUndefined<T extends object>(given: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
