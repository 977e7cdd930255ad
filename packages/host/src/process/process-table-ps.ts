import { spawnSync } from 'node:child_process';
import type { ProcessEntry, ProcessTable } from './process-table.ts';

const columns = 'pid=,ppid=,pgid=,stat=,time=,rss=,lstart=';

/** Runs `ps` in a fixed locale and time zone, and returns its lines except its own; empty if no process matches. */
function ps(...args: string[]): string[] {
  const { pid, status, stdout } = spawnSync('ps', args, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC0' },
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
    timeout: 10_000,
  });
  if (status !== 0) return [];
  return stdout.split('\n').filter((line) => line.trim() !== '' && Number.parseInt(line, 10) !== pid);
}

/** Parses `Sun Nov 15 04:49:00 2026` into seconds. */
function parseMoment(text: string): string | null {
  const timeMs = Date.parse(`${text.trim().replaceAll(/\s+/g, ' ')} UTC`);
  return Number.isNaN(timeMs) ? null : `ps/${timeMs / 1000}`;
}

/** Parses `1-02:03:04`, `02:03:04` or `3:04.05` into milliseconds. */
function parseDurationMs(text: string): number {
  const [days, clock] = text.includes('-') ? text.split('-', 2) : ['0', text];
  const seconds = (clock ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1_000) || 0;
}

/** Parses a line of `ps` with our columns. */
export function parsePsLine(line: string): ProcessEntry | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+([\d:.-]+)\s+(\d+)\s+(\S.*)$/.exec(line);
  if (match === null) return null;
  const [, pid, parent, group, state = '', time = '', kibibytes, moment = ''] = match;
  const start = parseMoment(moment);
  if (start === null) return null;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    start,
    defunct: state.startsWith('Z'),
    stopped: state.startsWith('T'),
    blocked: /^[DU]/.test(state),
    cpuMs: parseDurationMs(time),
    residentBytes: Number(kibibytes) * 1_024,
    image: '',
    bare: false,
  };
}

/** For systems without `/proc`, such as macOS: slower, and start times have a resolution of one second. */
export const psTable: ProcessTable = {
  read(pid) {
    const [line] = ps('-o', columns, '-p', String(pid));
    return line === undefined ? null : parsePsLine(line);
  },
  list(except) {
    return ps('-axo', columns)
      .map(parsePsLine)
      .filter((entry) => entry !== null)
      .filter(({ pid }) => except?.has(pid) !== true);
  },
  variables(pids, name) {
    const found = new Map<number, string[]>();
    const lines = pids.length === 0 ? [] : ps('-E', '-ww', '-o', 'pid=,command=', '-p', pids.join(','));
    for (const line of lines) {
      const words = line.trim().split(' ');
      const values = words.filter((word) => word.startsWith(`${name}=`)).map((word) => word.slice(name.length + 1));
      found.set(Number(words[0]), values);
    }
    return found;
  },
  outputs() {
    return [];
  },
  runsScript(pid, path) {
    const [line] = ps('-ww', '-o', 'command=', '-p', String(pid));
    if (line === undefined) return null;
    return `${line} `.replace(/^\S+ /, '').startsWith(`${path} `);
  },
  program() {
    return null;
  },
  parseStart(_pid, boot, detail) {
    return boot === 'ps' ? parseMoment(detail) : null;
  },
};
