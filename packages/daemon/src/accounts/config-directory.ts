import type { AccountUse } from '@pawl/core/port/provider';
import { lstat } from 'node:fs/promises';
import { join, normalize, sep } from 'node:path';
import { readBoundedFile, writePrivateFile } from './private-file.ts';

/** Values for the placeholders in a preset's files. */
export type FileValues = { baseUrl: string | null; key: string | null; model: string | null };

/**
 * Writes the files that a CLI needs before it starts into its config directory, if missing. A file that differs from
 * ours only in the base URL is ours: the address of the proxy may change.
 */
export async function writePresetFiles(directory: string, use: AccountUse, values: FileValues): Promise<void> {
  for (const [path, template] of Object.entries(use.files)) {
    const place = normalize(path);
    if (place.startsWith('..') || place.startsWith(sep)) continue;
    const content = fill(template, values);
    const there = await lstat(join(directory, place)).catch(() => null);
    if (content === null) continue;
    if (there === null || (await isOutdated(join(directory, place), template, content)))
      await writePrivateFile(join(directory, place), content);
  }
}

/** True if a file is ours, with another base URL. */
async function isOutdated(path: string, template: string, content: string): Promise<boolean> {
  const [before, after, ...more] = template.split('{baseUrl}');
  if (before === undefined || after === undefined || more.length > 0 || /\{(key|model)\}/.test(template)) return false;
  const known = await readBoundedFile(path, content.length * 4 + 4_096);
  if (known === null || known === content) return false;
  return known.startsWith(before) && known.endsWith(after) && !known.slice(before.length, -after.length).includes('"');
}

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
