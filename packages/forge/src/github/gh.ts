import { PawlError } from '@pawl/schema/error';
import { execa } from 'execa';
import { forgeLimits } from '../forge-limit.ts';

export type GhOutput = { exitCode: number; stdout: string; stderr: string };

/** Runs `gh` with these arguments and this input, and returns its answer with any exit code. */
export type Gh = (words: readonly string[], input?: string) => Promise<GhOutput>;

/** Inherited variables: where `gh` keeps its login, and network settings. */
const inheritedVariables = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'GH_CONFIG_DIR',
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'GH_ENTERPRISE_TOKEN',
  'GITHUB_ENTERPRISE_TOKEN',
  'GH_HOST',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
] as const;

/**
 * The person's own `gh`. It prompts for nothing, starts no pager, and runs outside of every repository: inside one it
 * would run git, with settings that an agent may have planted. So each command names its repository.
 */
export function createGh({ cwd, environment }: { cwd: string; environment: NodeJS.ProcessEnv }): Gh {
  const inherited = inheritedVariables.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const env = {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C.UTF-8',
    NO_COLOR: '1',
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    GH_NO_EXTENSION_UPDATE_NOTIFIER: '1',
    GH_PAGER: 'cat',
    GH_SPINNER_DISABLED: '1',
    GIT_DIR: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
  };
  return async (words, input) => {
    const result = await execa('gh', words, {
      cwd,
      env,
      extendEnv: false,
      ...(input === undefined ? { stdin: 'ignore' } : { input }),
      reject: false,
      stripFinalNewline: false,
      timeout: forgeLimits.commandMs,
      maxBuffer: forgeLimits.outputBytes,
    });
    const { exitCode, stdout, stderr } = result;
    if (exitCode === undefined || result.isMaxBuffer) throw unanswered(words, result);
    return { exitCode, stdout, stderr };
  };
}

type Unanswered = { timedOut: boolean; isMaxBuffer: boolean; code?: string; signal?: string };

/** Explains a command without an answer. */
function unanswered(words: readonly string[], result: Unanswered): PawlError {
  const command = `gh ${words.slice(0, 2).join(' ')}`;
  if (result.code === 'ENOENT') {
    return new PawlError('unavailable', 'The program gh was not found.', {
      hint: 'Install it from https://cli.github.com and run `gh auth login`; or say `queue: {forge: local}` in .pawl/config.yaml.',
    });
  }
  if (result.timedOut) {
    return new PawlError('unavailable', `${command} took longer than ${forgeLimits.commandMs} ms and was ended.`, {
      hint: 'Check the network; it is tried again.',
    });
  }
  const reason = result.isMaxBuffer ? 'printed too much' : `was ended (${result.signal ?? result.code ?? 'unknown'})`;
  return new PawlError('unavailable', `${command} ${reason}.`, { hint: 'It is tried again.' });
}
