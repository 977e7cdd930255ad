import { builtInPresets } from '@pawl/providers/preset/built-in';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { programOf } from '@pawl/providers/detect';
import type { Pattern } from '@pawl/providers/pattern';
import { compilePattern } from '@pawl/providers/pattern';
import { fileName, isInterpreter } from '@pawl/providers/process-of';
import type { SeenProcess } from './process-view.ts';
import { rosterLimits } from './roster-limit.ts';

/** How to recognise a provider's processes, and the program that a person types. */
export type AgentProgram = { provider: string; program: string; names: string[]; commandLine: string | null };

/** The programs of these providers, except those that cannot be recognised. */
export function agentPrograms(presets: readonly ProviderPreset[]): AgentProgram[] {
  return presets
    .map((preset) => ({ provider: preset.name, program: programOf(preset), ...preset.process }))
    .filter(({ names, commandLine }) => names.length > 0 || commandLine !== null);
}

/** The programs of built-in providers. */
export function knownPrograms(): AgentProgram[] {
  return agentPrograms(
    builtInPresets({
      scriptedAgent: ['node'],
      bridge: ['node'],
      engine: ['node'],
      engineState: '',
      scriptedState: '',
    }),
  );
}

/** Returns the provider of a process, or null if it is not an agent. */
export type Recognise = (process: Pick<SeenProcess, 'name' | 'words'>) => string | null;

/** Builds the test for all providers at once. */
export function recogniser(programs: readonly AgentProgram[]): Recognise {
  const byName = new Map<string, string>();
  const scripts: { provider: string; pattern: Pattern }[] = [];
  for (const { provider, names, commandLine } of programs) {
    for (const name of names.flatMap((each) => [each, each.slice(0, rosterLimits.nameCharacters)]))
      if (!byName.has(name)) byName.set(name, provider);
    const pattern = commandLine === null ? null : compilePattern(commandLine);
    if (pattern !== null && !('refused' in pattern)) scripts.push({ provider, pattern });
  }
  return ({ name, words }) => {
    const program = fileName(words[0] ?? '');
    const named = byName.get(name) ?? byName.get(program);
    if (named !== undefined || !isInterpreter(program)) return named ?? null;
    const candidates = scriptsIn(words);
    return scripts.find(({ pattern }) => candidates.some((word) => pattern.isIn(word)))?.provider ?? null;
  };
}

/**
 * The words that may be an interpreter's script: the first non-option, and the one after it, since the first may be an
 * option's value. Better one too many than a false "alone".
 */
function scriptsIn(words: readonly string[]): string[] {
  return words
    .slice(1)
    .filter((word) => !word.startsWith('-'))
    .slice(0, 2);
}
