import { psTable } from '@pawl/host/process/process-table-ps';
import type { Directory, ProcessView, SeenProcess } from './process-view.ts';
import { cannotTell } from './process-view.ts';
import { rosterLimits } from './roster-limit.ts';
import { printed } from './run-command.ts';

/** The commands for `ps` and `lsof`; tests replace them. */
export type Commands = { ps: string; lsof: string };

const usual: Commands = { ps: 'ps', lsof: 'lsof' };

/**
 * For systems without `/proc`, such as macOS. A command line is one text there, so a word with spaces looks like
 * several. Names and command lines are queried separately: both may contain spaces, and only the last column may.
 */
export function psView(commands: Commands = usual): ProcessView {
  const listed = (column: string) => {
    const { status, stdout } = printed(commands.ps, ['-axww', '-o', `pid=,ppid=,uid=,stat=,lstart=,${column}=`]);
    if (status !== 0 || stdout.trim() === '') throw cannotTell(`${commands.ps} does not list processes`);
    return stdout.split('\n').flatMap((line) => parseLine(line) ?? []);
  };
  return {
    list() {
      const commandLines = new Map(listed('command').map(({ entry, last }) => [`${entry.pid}/${entry.start}`, last]));
      const processes = listed('ucomm').map(({ entry, last }) => ({
        ...entry,
        name: last,
        words: (commandLines.get(`${entry.pid}/${entry.start}`) ?? '').split(' ', rosterLimits.commandWords),
      }));
      return { processes, hidden: [] };
    },
    directories(pids) {
      if (pids.length === 0) return new Map<number, Directory>();
      // It exits with 1 if it cannot see one of them, and still prints the others.
      const { stdout } = printed(commands.lsof, ['-a', '-d', 'cwd', '-F', 'pn', '-p', pids.join(',')]);
      const found = parseLsof(stdout);
      return new Map(pids.map((pid) => [pid, found.get(pid) ?? missing(pid)]));
    },
    variable: (pid, name) => psTable.variables([pid], name).get(pid)?.[0] ?? null,
  };

  function missing(pid: number): Directory {
    return printed(commands.ps, ['-o', 'pid=', '-p', String(pid)]).status === 0
      ? { state: 'unreadable', reason: `${commands.lsof} does not show it` }
      : { state: 'gone' };
  }
}

type Line = { entry: Omit<SeenProcess, 'name' | 'words'>; last: string };

/** Parses `pid ppid uid stat Sun Nov  1 04:49:07 2026 name`; null for other lines, and for ended processes. */
export function parseLine(line: string): Line | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s?(.*)$/.exec(line);
  if (match === null) return null;
  const [, pid, parent, user, state = '', moment = '', last = ''] = match;
  const start = psTable.parseStart(Number(pid), 'ps', moment);
  if (start === null || state.startsWith('Z')) return null;
  const startedAt = Number(start.slice(start.lastIndexOf('/') + 1)) * 1_000;
  return {
    entry: { pid: Number(pid), parent: Number(parent), user: Number(user), start, startedAt },
    last: last.trim(),
  };
}

/** Parses lines `p<pid>` and `n<path>`; an unreadable path is an explanation in parentheses. */
export function parseLsof(text: string): Map<number, Directory> {
  const found = new Map<number, Directory>();
  let pid = 0;
  for (const line of text.split('\n')) {
    const rest = line.slice(1);
    if (line.startsWith('p')) pid = Number(rest);
    else if (line.startsWith('n') && rest.startsWith('/'))
      found.set(
        pid,
        /\((?:Permission denied|readlink: .*|stat: .*)\)$/.test(rest)
          ? { state: 'unreadable', reason: rest }
          : { state: 'at', path: rest.replace(/ \(deleted\)$/, '') },
      );
  }
  return found;
}
