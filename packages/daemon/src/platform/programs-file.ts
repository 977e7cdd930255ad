import type { AgentProgram } from '@pawl/roster/agent-program';
import { agentPrograms } from '@pawl/roster/agent-program';
import { messageOf } from '@pawl/schema/error';
import { renameSync, writeFileSync } from 'node:fs';
import type { Platform } from './platform.ts';

/** What a daemon leaves for those who look for agents while it is down. */
type ProgramsFile = {
  provider: string | null;
  programs: AgentProgram[];
  /** Names of the shell's variables that some provider reads. */
  variables: string[];
};

/**
 * Writes down what the processes of all providers look like, those too that `config.yaml` adds, and which provider is the
 * usual one: the roster reads it, and so needs neither a daemon nor a reader of YAML.
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
    log.warn({ error: messageOf(error) }, 'programs.json could not be written');
  }
}
