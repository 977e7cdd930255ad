import { hasErrno } from '@pawl/schema/error';
import { readFileSync, statSync } from 'node:fs';
import type { AgentProgram } from './agent-program.ts';
import { knownPrograms } from './agent-program.ts';
import { rosterLimits } from './roster-limit.ts';

/** The agents' programs that a daemon knows, including those of `config.yaml`. */
export type HomePrograms = {
  provider: string | null;
  programs: AgentProgram[];
  /** Shell variables that some provider reads. */
  variables: string[];
};

/**
 * Reads the programs that a home's daemon last wrote. Always includes the built-in ones; a missing or broken file
 * changes nothing.
 */
export function readPrograms(path: string): HomePrograms {
  const known = knownPrograms();
  const written = parse(path);
  const given = written.programs.filter(isProgram).slice(0, rosterLimits.programs);
  const names = new Set(given.map(({ provider }) => provider));
  return {
    provider: typeof written.provider === 'string' ? written.provider : null,
    programs: [...given, ...known.filter(({ provider }) => !names.has(provider))],
    variables: written.variables.filter((name) => typeof name === 'string').slice(0, rosterLimits.variables),
  };
}

function parse(path: string): { provider: unknown; programs: unknown[]; variables: unknown[] } {
  const nothing = { provider: null, programs: [], variables: [] };
  try {
    if (statSync(path).size > rosterLimits.programsBytes) return nothing;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value !== 'object' || value === null) return nothing;
    const { provider, programs, variables } = value as Record<string, unknown>;
    return { provider, programs: listOf(programs), variables: listOf(variables) };
  } catch (error) {
    if (error instanceof SyntaxError || hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return nothing;
    throw error;
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function isProgram(value: unknown): value is AgentProgram {
  if (typeof value !== 'object' || value === null) return false;
  const { provider, program, names, commandLine } = value as Record<string, unknown>;
  const areNames = Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '');
  const isPattern = commandLine === null || typeof commandLine === 'string';
  return typeof provider === 'string' && typeof program === 'string' && areNames && isPattern;
}
