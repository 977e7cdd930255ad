import { parseRule } from '@pawl/core/rules/rule-match';
import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import type { HomeConfig } from '@pawl/schema/home-config';
import { homeConfigLimits, homeConfigSchema } from '@pawl/schema/home-config';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { Choices, Timing } from './platform.ts';

export function choicesOf(config: HomeConfig): Choices {
  return {
    provider: config.provider,
    access: config.access,
    models: config.models,
    defaultModel: config.default_model,
    rules: config.rules,
    switchOnFork: config.switch_on_fork,
    maxSessions: config.max_sessions,
    maxAgents: config.max_agents,
    rotateAccounts: config.rotate_accounts,
    budgets: config.budgets,
    mcpServers: config.mcp_servers,
    trustRepositorySettings: config.trust_repository_settings,
    proxy: config.proxy,
    network: config.network,
    nudges: config.nudges,
    sandbox: sandboxChoices(config),
    questions: {
      deadlineMs: config.questions.deadline_minutes === null ? null : config.questions.deadline_minutes * 60_000,
      policy: config.questions.policy,
    },
  };
}

function sandboxChoices({ sandbox: mode, sandbox_options: options }: HomeConfig): Choices['sandbox'] {
  const { readable, writable, memory_gb: memory, processes, file_gb: file } = options;
  const bytes = (gigabytes: number | null) => (gigabytes === null ? null : Math.ceil(gigabytes * 1024 ** 3));
  const limits = { memoryBytes: bytes(memory), processes, fileBytes: bytes(file) };
  return { mode, readable: readable.map(inHome), writable: writable.map(inHome), limits };
}

/** A path with `~` for the person's home. */
function inHome(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
}

/** The intervals that a config file sets. */
export function timingOf({ timers }: HomeConfig): Partial<Timing> {
  const { route_seconds: route, health_seconds: health, nudge_seconds: nudge, nudge_gap_seconds: gap } = timers;
  const given = { routeMs: route, healthMs: health, nudgeMs: nudge, nudgeGapMs: gap };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, seconds]) => (seconds === undefined ? [] : [[name, seconds * 1_000]])),
  );
}

/**
 * Reads `config.yaml`. Uses the defaults if there is none, and refuses an invalid one with the location of the error.
 */
export async function readConfig(path: string, environment: NodeJS.ProcessEnv = process.env): Promise<HomeConfig> {
  const parsed = homeConfigSchema.safeParse(await readFile(path));
  if (!parsed.success) {
    throw new PawlError('invalid_input', `${path} is invalid: ${z.prettifyError(parsed.error)}`, {
      hint: 'Correct it, or move it away to use the defaults.',
    });
  }
  for (const { effect, match } of parsed.data.rules) parseRule(effect, match);
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
  if (text.length > homeConfigLimits.characters)
    throw new PawlError('invalid_input', `${path} has more than ${homeConfigLimits.characters} characters.`);
  // Load the parser only for homes with a config file.
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(text, { maxAliasCount: homeConfigLimits.aliases });
    return value ?? {};
  } catch (error) {
    throw new PawlError('invalid_input', `${path} is not YAML: ${messageOf(error)}`, { cause: error });
  }
}
