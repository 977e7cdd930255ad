import { inheritedEnvironment } from '../platform/agent-environment.ts';
import type { CheckPlace } from './check-place.ts';

/** A name that a POSIX shell passes on. What is Pawl's own is never for a check. */
const passable = /^(?!PAWL_)[A-Za-z_][A-Za-z0-9_]*$/;

/** Names of variables whose values nobody should read in a log. */
const secretName = /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|KEY/i;

/**
 * Where `pawl` finds its home in a check: below a file, where neither a daemon is nor can be started. A test that runs
 * `pawl` by mistake fails with this path, and does not speak to the person's own daemon as that person.
 */
const noHome = '/dev/null/pawl-is-not-for-checks';

/**
 * The whole environment of a check: who and where the person is, the locale and the way out, and what the project names.
 * No key of a provider and no token of ours is in it unless the project asks for it by name. Without a `.git` of its
 * own, git in the clone finds none: it does not go up into a home that may be a repository itself.
 */
export function checkEnvironment(
  from: NodeJS.ProcessEnv,
  names: readonly string[],
  { dir, temporary }: CheckPlace,
): Record<string, string> {
  return {
    ...inheritedEnvironment(from),
    ...namedVariables(from, names),
    CI: 'true',
    TMPDIR: temporary,
    PAWL_HOME: noHome,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CEILING_DIRECTORIES: dir,
    // A repository that was committed as files is not taken for one; git reads this from the environment only.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.bareRepository',
    GIT_CONFIG_VALUE_0: 'explicit',
  };
}

/** What must not stand in a check's output: the values of those named variables that seem to be secret. */
export function checkSecrets(from: NodeJS.ProcessEnv, names: readonly string[]): string[] {
  return Object.entries(namedVariables(from, names))
    .filter(([name]) => secretName.test(name))
    .map(([, value]) => value);
}

function namedVariables(from: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined && passable.test(name)) env[name] = value;
  }
  return env;
}
