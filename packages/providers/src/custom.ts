import type { AccountUse, ProviderPreset } from '@pawl/core/port/provider';
import { messageOf } from '@pawl/schema/error';
import { nameSchema } from '@pawl/schema/id';
import * as z from 'zod';
import { entrySchema } from './custom-schema.ts';
import type { ProviderEntry } from './custom-schema.ts';
import { checkPatterns } from './fault.ts';
import { compilePattern } from './pattern.ts';
import { baseAccount, definePreset } from './preset/base.ts';
import { processOf } from './process-of.ts';
import type { ProviderProblem } from './registry.ts';

const entryCount = 100;

/**
 * Merges the custom providers of `config.yaml` into the built-in presets. An invalid entry is skipped and reported; the
 * others still work.
 */
export function withCustomPresets(
  builtIn: ProviderPreset[],
  entries: Record<string, unknown>,
): { presets: ProviderPreset[]; problems: ProviderProblem[] } {
  const presets = new Map(builtIn.map((preset) => [preset.name, preset]));
  const problems: ProviderProblem[] = [];
  for (const [index, [name, raw]] of Object.entries(entries).entries()) {
    try {
      if (index >= entryCount) throw new Error(`there are more than ${entryCount} providers`);
      const preset = customPreset(builtIn, name, raw);
      presets.set(name, preset);
    } catch (error) {
      problems.push({ name: name.slice(0, 80), reason: `providers.${name.slice(0, 80)}: ${messageOf(error)}` });
    }
  }
  return { presets: [...presets.values()], problems };
}

function customPreset(builtIn: ProviderPreset[], name: string, raw: unknown): ProviderPreset {
  const checked = nameSchema.safeParse(name);
  if (!checked.success) throw new Error(z.prettifyError(checked.error));
  const parsed = entrySchema.safeParse(raw);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const entry = parsed.data;
  const preset = mergeEntry(name, baseOf(builtIn, name, entry), entry);
  checkPatterns(preset.patterns);
  checkCommandLine(preset.process.commandLine);
  return preset;
}

function checkCommandLine(pattern: string | null): void {
  const compiled = pattern === null ? null : compilePattern(pattern);
  if (compiled !== null && 'refused' in compiled)
    throw new Error(`The pattern ${JSON.stringify(pattern)} for process.command_line ${compiled.refused}`);
}

/** The base of an entry: what it extends, else the built-in one of its name, else `generic`. */
function baseOf(builtIn: ProviderPreset[], name: string, entry: ProviderEntry): ProviderPreset {
  const wanted = entry.extends ?? (builtIn.some((preset) => preset.name === name) ? name : 'generic');
  const base = builtIn.find((preset) => preset.name === wanted);
  if (base === undefined) {
    const known = builtIn.map((preset) => preset.name).join(', ');
    throw new Error(`it extends ${JSON.stringify(wanted)}, and there are only ${known}`);
  }
  if (base.name !== 'generic' || entry.command === undefined) return base;
  // Its own command needs no option.
  return definePreset({ name, description: entry.command.join(' '), command: entry.command });
}

function mergeEntry(name: string, base: ProviderPreset, entry: ProviderEntry): ProviderPreset {
  const { extends: _extends, account: _account, access, silence, process, ...fields } = entry;
  const given = inCamelCase(fields) as Partial<ProviderPreset>;
  // If another program is named, look for that one.
  const { program: _program, ...rest } = base;
  return {
    ...(given.command === undefined ? base : rest),
    ...given,
    name,
    env: { ...base.env, ...given.env },
    rootEnv: { ...base.rootEnv, ...given.rootEnv },
    options: { ...base.options, ...given.options },
    variables: { ...base.variables, ...given.variables },
    // Another provider has none of this entry's settings.
    access: { ...withoutAskWith(base.access), ...inCamelCase(access) },
    process: { ...processLike(base, given), ...inCamelCase(process) },
    patterns: { ...base.patterns, ...given.patterns },
    silence: { ...base.silence, ...inCamelCase(silence) },
    repositorySettings: { ...base.repositorySettings, ...given.repositorySettings },
    account: mergeAccount(base.account, entry),
  };
}

/** An entry with variables of its own may send a shell's key to a server that only it knows. */
function mergeAccount(base: AccountUse | null, { account, variables }: ProviderEntry): AccountUse | null {
  if (account === null) return null;
  if (account === undefined && (variables === undefined || base === null)) return base;
  const { elsewhere: _elsewhere, ...examined } = base ?? baseAccount;
  return { ...examined, ...inCamelCase(account) };
}

function withoutAskWith({ askWith: _askWith, ...access }: ProviderPreset['access']): ProviderPreset['access'] {
  return access;
}

/** How to recognise the processes of an entry without `process`: like its base's, and by its own command. */
function processLike(base: ProviderPreset, { command }: Partial<ProviderPreset>): ProviderPreset['process'] {
  const own = command === undefined ? base.process : processOf(command);
  const names = [...new Set([...base.process.names, ...own.names])];
  return { names, commandLine: own.commandLine ?? base.process.commandLine };
}

/** Converts the top-level keys to camelCase. */
function inCamelCase(fields: object = {}): Record<string, never> {
  const entries = Object.entries(fields).map(([key, value]: [string, unknown]) => [
    key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(entries) as Record<string, never>;
}
