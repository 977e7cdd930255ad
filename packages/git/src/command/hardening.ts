/**
 * Settings that name a command, or that let git reach the network, change the user's config or start work of its own.
 * A repository's config can be written by every agent that shares it, so each of these is overruled on the command line.
 */
const overruledSettings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.sshCommand=false',
  'core.pager=cat',
  'core.editor=false',
  'core.askPass=',
  'core.alternateRefsCommand=false',
  'core.attributesFile=/dev/null',
  'sequence.editor=false',
  'diff.external=false',
  'interactive.diffFilter=',
  'credential.helper=',
  'gpg.program=false',
  'gpg.openpgp.program=false',
  'gpg.ssh.program=false',
  'gpg.x509.program=false',
  'gpg.ssh.defaultKeyCommand=',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'log.showSignature=false',
  'uploadpack.packObjectsHook=false',
  'protocol.allow=never',
  'protocol.ext.allow=never',
  'protocol.file.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'branch.autoSetupMerge=false',
  'branch.autoSetupRebase=never',
  'worktree.guessRemote=false',
  'worktree.useRelativePaths=false',
  'init.templateDir=',
] as const;

/** Options that stand before every sub-command. */
export const hardenedOptions: readonly string[] = optionsFor(overruledSettings);

/** What a person's own config may say when git reaches a remote: how it gets there, and with which credentials. */
const ownMatters = new Set(['core.sshCommand=false', 'credential.helper=']);

/** Options that stand before a sub-command that reaches a remote. */
export const networkOptions: readonly string[] = optionsFor([
  ...overruledSettings.filter((setting) => !ownMatters.has(setting)),
  // What comes in appears whole or not at all.
  'fetch.unpackLimit=1',
  'push.recurseSubmodules=no',
]);

function optionsFor(settings: readonly string[]): string[] {
  return ['--no-pager', '--no-optional-locks', ...settings.flatMap((setting) => ['-c', setting])];
}

/** What git may know of the caller's environment: where programs and the home are, and who the user is. */
const inheritedVariables = ['PATH', 'HOME', 'USER', 'LOGNAME', 'XDG_CONFIG_HOME', 'TMPDIR', 'SUDO_UID'] as const;

/** The environment of every git command. Nothing of the caller's `GIT_*` passes, and nothing can ask a question. */
export function gitEnvironment(caller: NodeJS.ProcessEnv): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of inheritedVariables) {
    const value = caller[name];
    if (value !== undefined) environment[name] = value;
  }
  return {
    ...environment,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_EDITOR: 'false',
    GIT_SEQUENCE_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_SSH_COMMAND: 'false',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    // A repository with missing objects would fetch them, with a command from its config. An empty allow list, known to
    // every version, forbids each transport; the second variable makes newer versions not even try.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    // Named here so that a reflog entry needs neither the user's config nor a look-up of the host name.
    GIT_AUTHOR_NAME: 'pawl',
    GIT_AUTHOR_EMAIL: 'pawl@localhost',
    GIT_COMMITTER_NAME: 'pawl',
    GIT_COMMITTER_EMAIL: 'pawl@localhost',
  };
}

/** Added wherever the user's and the machine's config have no say. */
export const withoutForeignConfig = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' } as const;

/** What leads to a remote, beside the person's config: keys in an agent, the way through a proxy, certificates. */
const networkVariables = [
  'SSH_AUTH_SOCK',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'GIT_PROXY_COMMAND',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'KRB5CCNAME',
  'GNUPGHOME',
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'http_proxy',
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
] as const;

/** The environment of a git command that reaches a remote. It can ask nobody: a missing password is a failure. */
export function networkEnvironment(caller: NodeJS.ProcessEnv): Record<string, string> {
  const { GIT_SSH_COMMAND: _, ...environment } = gitEnvironment(caller);
  for (const name of networkVariables) {
    const value = caller[name];
    if (value !== undefined) environment[name] = value;
  }
  return {
    ...environment,
    // Ssh would else ask at the terminal that the daemon was started from.
    SSH_ASKPASS: 'false',
    SSH_ASKPASS_REQUIRE: 'force',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  };
}
