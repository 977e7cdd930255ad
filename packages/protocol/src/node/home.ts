import { realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** The paths of one Pawl home. */
export type Home = {
  root: string;
  socket: string;
  /**
   * A directory with a second name of the socket, for sandboxes: they see this directory, and not the rest of the home.
   */
  door: string;
  token: string;
  /** The serving daemon: pid, port, version. Advice for people and clients; the lock decides. */
  daemonFile: string;
  config: string;
  logs: string;
  sessions: string;
  worktrees: string;
  /** Working directories of agents with several projects or none; no project can have this directory's name. */
  agentWorkdirs: string;
  repositories: string;
  trash: string;
  /** Uncommitted work saved from worktrees before they were deleted permanently. */
  archive: string;
  /** Credentials: the only place for secrets. */
  accounts: string;
  /** The `pawl` command, for agents' shells. */
  bin: string;
  /** The person's own definitions. */
  agents: string;
  /** Mail as files, for other programs: each agent's mail, and where to drop some. */
  messages: string;
  /** The full text of long mails. */
  mail: string;
  /** How to recognise coding agents' processes: written by the daemon for when it is down. */
  programs: string;
  /** Clones in which checks run, and the learnings of closed changes. */
  checks: string;
  learnings: string;
  /** A projection of the registry for other programs; written, never read. */
  state: string;
  scripted: string;
  /** The engine's conversations and long output. */
  engine: string;
  /** Requests of commands without an answer yet. */
  requests: string;
  /** The original files of checkouts with installed hooks. */
  hooks: string;
  /** The proxy's files: which sessions may use it, and who serves. Only its owner can enter. */
  proxy: string;
  /** The proxy's unix socket, where sandboxes see it. */
  proxySocket: string;
};

/** A unix socket's path may have about a hundred bytes on every system; longer ones fail in odd ways. */
const socketPathBytes = 100;

/** The layout of `PAWL_HOME`, by default `~/.pawl`. */
export function homeAt(
  root: string = process.env['PAWL_HOME'] || join(homedir() || userInfo().homedir, '.pawl'),
): Home {
  const base = canonicalPath(resolve(root));
  return {
    root: base,
    socket: socketPath(base),
    door: doorPath(base),
    token: join(base, 'token'),
    daemonFile: join(base, 'daemon.json'),
    config: join(base, 'config.yaml'),
    logs: join(base, 'logs'),
    sessions: join(base, 'sessions'),
    worktrees: join(base, 'worktrees'),
    agentWorkdirs: join(base, 'worktrees', '_agents'),
    repositories: join(base, 'repositories'),
    trash: join(base, 'trash'),
    archive: join(base, 'archive'),
    accounts: join(base, 'accounts'),
    bin: join(base, 'bin'),
    agents: join(base, 'agents'),
    messages: join(base, 'messages'),
    mail: join(base, 'mail'),
    programs: join(base, 'programs.json'),
    checks: join(base, 'checks'),
    learnings: join(base, 'learnings'),
    state: join(base, 'state.json'),
    scripted: join(base, 'scripted'),
    engine: join(base, 'engine'),
    requests: join(base, 'requests'),
    hooks: join(base, 'hooks'),
    proxy: join(base, 'proxy'),
    proxySocket: join(doorPath(base), 'proxy.sock'),
  };
}

/** A path without symbolic links, even if its end does not exist yet: one home has one name, however it is reached. */
function canonicalPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(canonicalPath(parent), basename(path));
  }
}

/**
 * `pawl.sock` in the home, or, if that path is too long for a socket, a name derived from it in a private directory.
 * That one does not follow TMPDIR, which differs between a person's shell and an agent's and may itself be long.
 */
function socketPath(base: string): string {
  const plain = join(base, 'pawl.sock');
  if (Buffer.byteLength(plain) <= socketPathBytes) return plain;
  // Few homes need it, and loading it takes a tenth of a short command's time.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(base).digest('hex').slice(0, 16);
  return join('/tmp', `pawl-${userInfo().uid}`, `${hash}.sock`);
}

/** Beside the socket, so that both are on one file system. */
function doorPath(base: string): string {
  const socket = socketPath(base);
  return dirname(socket) === base ? join(base, 'door') : socket.replace(/\.sock$/, '.door');
}
