import { execFileSync } from 'node:child_process';
import type { ProcessEntry, ProcessTable } from './process-table.ts';

const columns = 'pid=,ppid=,pgid=,stat=,lstart=';

/** Runs `ps` in a fixed language and time zone, and gives its lines; none when it finds no process. */
function ps(...args: string[]): string[] {
  try {
    const text = execFileSync('ps', args, {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC0' },
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 * 1024 * 1024,
      timeout: 10_000,
    });
    return text.split('\n').filter((line) => line.trim() !== '');
  } catch {
    return [];
  }
}

/** Turns `Sun Nov 15 04:49:00 2026` into seconds. */
function parseMoment(text: string): string | null {
  const timeMs = Date.parse(`${text.trim().replaceAll(/\s+/g, ' ')} UTC`);
  return Number.isNaN(timeMs) ? null : `ps/${timeMs / 1000}`;
}

/** Parses a line of `ps` with our columns. */
export function parsePsLine(line: string): ProcessEntry | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*)$/.exec(line);
  if (match === null) return null;
  const [, pid, parent, group, state = '', moment = ''] = match;
  const start = parseMoment(moment);
  if (start === null) return null;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    start,
    defunct: state.startsWith('Z'),
    stopped: state.startsWith('T'),
  };
}

/** Systems without `/proc`, such as macOS: slower, and start times are only as fine as a second. */
export const psTable: ProcessTable = {
  read(pid) {
    const [line] = ps('-o', columns, '-p', String(pid));
    return line === undefined ? null : parsePsLine(line);
  },
  list() {
    return ps('-axo', columns)
      .map(parsePsLine)
      .filter((entry) => entry !== null);
  },
  hasVariable(pid, name, value) {
    const [line] = ps('-E', '-ww', '-o', 'command=', '-p', String(pid));
    return line !== undefined && `${line} `.includes(` ${name}=${value} `);
  },
  runsScript(pid, path) {
    const [line] = ps('-ww', '-o', 'command=', '-p', String(pid));
    if (line === undefined) return null;
    return `${line} `.replace(/^\S+ /, '').startsWith(`${path} `);
  },
  parseStart(_pid, boot, detail) {
    return boot === 'ps' ? parseMoment(detail) : null;
  },
};
