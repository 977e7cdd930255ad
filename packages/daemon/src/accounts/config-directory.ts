import type { AccountUse } from '@pawl/core/port/provider';
import { lstat, rm } from 'node:fs/promises';
import { join, normalize, sep } from 'node:path';
import { readBoundedFile, writePrivateFile } from './private-file.ts';

/** Values for the placeholders in a preset's files. */
export type FileValues = { baseUrl: string | null; key: string | null; model: string | null };

/**
 * Writes the files that a CLI needs before it starts into its config directory, if missing. A file with another base URL
 * than now, and no other difference, is ours: sessions may call through the proxy or not.
 */
export async function writePresetFiles(directory: string, use: AccountUse, values: FileValues): Promise<void> {
  for (const [path, template] of Object.entries(use.files)) {
    const place = normalize(path);
    if (place.startsWith('..') || place.startsWith(sep)) continue;
    const content = fill(template, values);
    const file = join(directory, place);
    const there = await lstat(file).catch(() => null);
    const isReplaceable = there === null || (await isOursWithUrl(file, template));
    if (content !== null && isReplaceable) await writePrivateFile(file, content);
    else if (content === null && there !== null && isReplaceable) await rm(file, { force: true });
  }
}

/** True if a config directory that a person has changed contains no file with a base URL. */
export async function takesUrlFiles(directory: string, use: AccountUse): Promise<boolean> {
  for (const [path, template] of Object.entries(use.files)) {
    if (!template.includes('{baseUrl}')) continue;
    const file = join(directory, normalize(path));
    const there = await lstat(file).catch(() => null);
    if (there !== null && !(await isOursWithUrl(file, template))) return false;
  }
  return true;
}

/** True if a file is what a template with just a base URL gives, whatever the URL. */
async function isOursWithUrl(path: string, template: string): Promise<boolean> {
  const [before = '', after = '', ...more] = template.split('{baseUrl}');
  if (!template.includes('{baseUrl}') || more.length > 0 || /\{(key|model)\}/.test(template)) return false;
  const known = (await readBoundedFile(path, ownFileBytes)) ?? '';
  if (!known.startsWith(before) || !known.endsWith(after)) return false;
  return !known.slice(before.length, known.length - after.length).includes('"');
}

const ownFileBytes = 16 * 1024;

/** A template with its placeholders replaced; null if one of them has no value. */
function fill(template: string, values: FileValues): string | null {
  let isWhole = true;
  const text = template.replaceAll(/\{(baseUrl|key|model)\}/g, (_, name: keyof FileValues) => {
    const value = values[name];
    if (value === null) isWhole = false;
    // Escaped for both JSON and TOML strings.
    return JSON.stringify(value ?? '').slice(1, -1);
  });
  return isWhole ? text : null;
}

/** The default config directory of each CLI below the person's home, by the variable that overrides it. */
const defaultDirectories: Record<string, string> = {
  CLAUDE_CONFIG_DIR: '.claude',
  CODEX_HOME: '.codex',
  GEMINI_CLI_HOME: '.',
  QWEN_HOME: '.qwen',
  PI_CODING_AGENT_DIR: '.pi/agent',
  COPILOT_HOME: '.copilot',
  CLINE_DIR: '.cline',
  CONTINUE_GLOBAL_DIR: '.continue',
};

/** The config directory that a CLI uses without an account in this environment, or null if unknown. */
export function defaultDirectory(use: AccountUse, environment: NodeJS.ProcessEnv): string | null {
  if (use.directory === null) return null;
  const named = environment[use.directory];
  if (named !== undefined && named !== '') return named;
  const home = environment['HOME'];
  const below = defaultDirectories[use.directory];
  return home === undefined || home === '' || below === undefined ? null : join(home, below);
}
