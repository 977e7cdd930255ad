/** The PATH if the environment has none. */
const defaultPath = '/usr/local/bin:/usr/bin:/bin';

/** Variables of the daemon that a session inherits: user, home, locale and proxies. */
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

/** The part of the daemon's environment that every process it starts inherits. */
export function inheritedEnvironment(from: NodeJS.ProcessEnv): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && (inherited.includes(name) || name.startsWith('LC_'))) env[name] = value;
  }
  return { ...env, PATH: env['PATH'] ?? defaultPath };
}

/**
 * The whole environment of a session: an allow list, the provider's own variables, and the agent's identity. Another
 * shell's keys, base URLs or git variables never leak into an agent.
 */
export function agentEnvironment(given: {
  from: NodeJS.ProcessEnv;
  /** The PATH of the agent. */
  path: string;
  provider: Record<string, string>;
  agent: { id: string; alias: string };
  token: string;
  home: string;
  pawl: string;
  /** The directory with `pawl`, searched before `path`. */
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
