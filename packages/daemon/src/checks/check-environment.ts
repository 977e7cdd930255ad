import { inheritedEnvironment } from '../platform/agent-environment.ts';
import type { CheckPlace } from './check-place.ts';

/** A name that a POSIX shell passes on. Pawl's own are never for a check. */
const passable = /^(?!PAWL_)[A-Za-z_][A-Za-z0-9_]*$/;

/** Names of variables whose values must not appear in a log. */
const secretName = /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|KEY/i;

/**
 * The `PAWL_HOME` of a check: below a file, so there is no daemon and none can be started. A test that runs `pawl` by
 * mistake fails with this path, instead of acting as the person on their own daemon.
 */
const noHome = '/dev/null/pawl-is-not-for-checks';

/**
 * The whole environment of a check: user, home, locale and proxies, and the variables that the project names. Contains
 * no provider key and no token of ours unless the project names it. Without a `.git` of its own, git in the clone finds
 * none: it does not go up into a home that may be a repository itself.
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
    // A bare repository committed as files is not trusted; git reads this from the environment only.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.bareRepository',
    GIT_CONFIG_VALUE_0: 'explicit',
  };
}

/** Secrets of the project to mask in a check's output: the values of named variables whose name suggests one. */
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
