/** Where programs are on a system that does not say. */
const defaultPath = '/usr/local/bin:/usr/bin:/bin';

/** What a session may see of the daemon's own environment: who and where it is, its locale, and the way out. */
const inherited = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TERM',
  'TZ',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
];

/** What anything that the daemon starts may see of the daemon's own environment. */
export function inheritedEnvironment(from: NodeJS.ProcessEnv): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && (inherited.includes(name) || name.startsWith('LC_'))) env[name] = value;
  }
  return { ...env, PATH: env['PATH'] ?? defaultPath };
}

/**
 * The whole environment of a session: an allow list, the provider's own variables, and what the agent needs to speak for
 * itself. Another shell's keys, base URLs or git variables never reach an agent by accident.
 */
export function agentEnvironment(given: {
  from: NodeJS.ProcessEnv;
  /** Where its programs are. */
  path: string;
  provider: Record<string, string>;
  agent: { id: string; alias: string };
  token: string;
  home: string;
  pawl: string;
  /** Where `pawl` is, and what else an agent's shell is to find first. */
  bin: string;
  temporary: string;
}): Record<string, string> {
  const env = inheritedEnvironment(given.from);
  return {
    ...env,
    ...given.provider,
    PATH: [given.bin, given.path].join(':'),
    TMPDIR: given.temporary,
    GIT_TERMINAL_PROMPT: '0',
    PAWL_HOME: given.home,
    PAWL_BIN: given.pawl,
    PAWL_AGENT_ID: given.agent.id,
    PAWL_AGENT_NAME: given.agent.alias,
    PAWL_AGENT_TOKEN: given.token,
  };
}
