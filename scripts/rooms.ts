/** A capability of the daemon, in its own folder below `packages/daemon/src`. */
type Room = { name: string; holds: string };

/** The rooms of the daemon, lowest first. A room imports only rooms before it. */
export const rooms: readonly Room[] = [
  { name: 'platform', holds: 'store, home, clock, log and choices, which every room is given; HTTP basics' },
  { name: 'definitions', holds: 'definition files, rights, and which repository settings are trusted' },
  { name: 'accounts', holds: 'credentials, config directories, masking of secrets' },
  { name: 'providers', holds: 'which CLIs there are, what each can do, and which one a new agent gets' },
  { name: 'proxy', holds: 'the proxy process of the home, and what each session may do through it' },
  { name: 'prompts', holds: 'prompt files and the prompts that were sent' },
  { name: 'project-config', holds: '.pawl/config.yaml, the target branch, the base commit of new work' },
  { name: 'rules', holds: 'rules in front of permission requests: stored ones, those of files, and which apply' },
  { name: 'tasks', holds: 'planned tasks: claimed, released, settled' },
  { name: 'mail', holds: 'mail rows, delivery, receipts, mailbox files' },
  { name: 'registry', holds: 'the end of agents, and the agent that the person acts as' },
  { name: 'approvals', holds: 'requests of CLIs for approval: recorded, judged, answered, sent' },
  { name: 'sessions', holds: 'reconciler, start, ingest, finish, spending' },
  { name: 'agents', holds: 'fork, kill, signals, history, selection, worktrees, errands' },
  { name: 'questions', holds: 'questions, permissions and their part of the inbox' },
  { name: 'checks', holds: 'running the checks of a tree' },
  { name: 'changes', holds: 'proposals: opening, review, guard, repair, landing' },
  { name: 'plan', holds: 'the plan of a project and the history of its tasks' },
  { name: 'forge-sync', holds: 'pull requests on a forge' },
  { name: 'queue', holds: 'the merge queue of each project, and branches that follow main' },
  { name: 'projects', holds: 'tracking projects, their settings and crews' },
  { name: 'supervision', holds: 'health, nudges, completion, leaving, agents found by the roster' },
  { name: 'runtime', holds: 'the runtime contract: live status and text, runs, chat, settings, what agents change' },
  { name: 'web', holds: 'the page in the browser: its files, codes and sessions' },
  { name: 'door', holds: 'the HTTP app: all routes behind one lock, doctor, streams, MCP' },
  { name: 'daemon', holds: 'composition: opens the store, puts the rooms together, opens the door' },
];

const sources = 'packages/daemon/src/';

/** The room of a file by its path from the root; null outside of the daemon's sources. */
export function roomOf(path: string): string | null {
  if (!path.startsWith(sources)) return null;
  const [folder = '', ...rest] = path.slice(sources.length).split('/');
  return rest.length === 0 ? 'daemon' : folder;
}

/** Why a file may not import another one of the daemon, or null. */
export function judgeRooms(from: string, to: string): string | null {
  const [here, there] = [roomOf(from), roomOf(to)];
  if (here === null || there === null || here === there) return null;
  const [low, high] = [here, there].map((name) => rooms.findIndex((room) => room.name === name));
  if (low === -1 || high === -1) return `the room ${low === -1 ? here : there} has no place in scripts/rooms.ts`;
  if (high !== undefined && low !== undefined && high > low)
    return `the room ${here} is below ${there} and imports nothing of it`;
  return null;
}
