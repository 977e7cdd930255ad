/**
 * Settings that name a command, reach the network, change the user's config or start background work. Every agent that
 * shares a repository can write its config, so the command line overrides each of these.
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

/** Options before every subcommand. */
export const hardenedOptions: readonly string[] = optionsFor(overruledSettings);

/** Settings that a person's own config may decide when git reaches a remote: transport and credentials. */
const ownMatters = new Set(['core.sshCommand=false', 'credential.helper=']);

/** Options before a subcommand that reaches a remote. */
export const networkOptions: readonly string[] = optionsFor([
  ...overruledSettings.filter((setting) => !ownMatters.has(setting)),
  // Fetched objects appear completely or not at all.
  'fetch.unpackLimit=1',
  'push.recurseSubmodules=no',
]);

function optionsFor(settings: readonly string[]): string[] {
  return ['--no-pager', '--no-optional-locks', ...settings.flatMap((setting) => ['-c', setting])];
}

/** Inherited variables: the locations of programs and the home, and the user's identity. */
const inheritedVariables = ['PATH', 'HOME', 'USER', 'LOGNAME', 'XDG_CONFIG_HOME', 'TMPDIR', 'SUDO_UID'] as const;

/** The environment of every git command. Drops the caller's `GIT_*`, and prevents prompts. */
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
    // A repository with missing objects would fetch them, by a command from its config. An empty allow list, known to
    // every version, forbids every transport; the second variable makes newer versions not even try.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    // Set here so that a reflog entry needs neither the user's config nor a host name lookup.
    GIT_AUTHOR_NAME: 'pawl',
    GIT_AUTHOR_EMAIL: 'pawl@localhost',
    GIT_COMMITTER_NAME: 'pawl',
    GIT_COMMITTER_EMAIL: 'pawl@localhost',
  };
}

/** For commands that must ignore the user's and the machine's config. */
export const withoutForeignConfig = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' } as const;

/** Variables for reaching a remote: ssh agent, proxy, certificates. */
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

/** The environment of a git command that reaches a remote. Never prompts: a missing password is a failure. */
export function networkEnvironment(caller: NodeJS.ProcessEnv): Record<string, string> {
  const { GIT_SSH_COMMAND: _, ...environment } = gitEnvironment(caller);
  for (const name of networkVariables) {
    const value = caller[name];
    if (value !== undefined) environment[name] = value;
  }
  return {
    ...environment,
    // Otherwise ssh would prompt at the terminal that started the daemon.
    SSH_ASKPASS: 'false',
    SSH_ASKPASS_REQUIRE: 'force',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  };
}
