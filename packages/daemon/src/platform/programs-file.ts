import type { AgentProgram } from '@pawl/roster/agent-program';
import { agentPrograms } from '@pawl/roster/agent-program';
import { messageOf } from '@pawl/schema/error';
import { renameSync, writeFileSync } from 'node:fs';
import type { Platform } from './platform.ts';

/** Written for the roster, which works while no daemon runs. */
type ProgramsFile = {
  provider: string | null;
  programs: AgentProgram[];
  /** Names of environment variables that providers read. */
  variables: string[];
};

/**
 * Records how to recognise the processes of all providers, including those from `config.yaml`, and the default
 * provider. The roster reads it, so it needs neither a daemon nor a YAML parser.
 */
export function writePrograms({
  home,
  providers,
  choices,
  log,
}: Pick<Platform, 'home' | 'providers' | 'choices' | 'log'>): void {
  const names = providers.list().flatMap(({ variables }) => [...variables.settings, ...variables.secrets]);
  const content: ProgramsFile = {
    provider: choices.provider,
    programs: agentPrograms(providers.list()),
    variables: [...new Set(names)].toSorted(),
  };
  try {
    writeFileSync(`${home.programs}.tmp`, JSON.stringify(content), { mode: 0o600 });
    renameSync(`${home.programs}.tmp`, home.programs);
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'failed to write programs.json');
  }
}
