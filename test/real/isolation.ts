import { execFile, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const outsideNames = join(import.meta.dirname, 'outside-names.ts');

/** A network namespace with nothing but loopback, in which 127.0.0.1 is the name server. */
const isolated: [string, ...string[]] = [
  'unshare',
  '--net',
  '--mount',
  'sh',
  '-c',
  'ip link set lo up && echo "nameserver 127.0.0.1" > "$0" && mount --bind "$0" /etc/resolv.conf && exec "$@"',
  join(tmpdir(), `pawl-resolv-${process.pid}`),
];

/** Whether the system lets us make such a namespace. */
export function canIsolate(): boolean {
  return spawnSync(isolated[0], [...isolated.slice(1), 'true'], { stdio: 'ignore' }).status === 0;
}

/** What the program in that namespace prints. */
type Told = {
  status: string;
  account: string | null;
  calls: number;
  names: string[];
  /** Where inspect says that the shell's key is. */
  key: { at: string; why: string } | null;
  /** Files with that key: of the session, its output, its environment as a tool saw it, and everything else but the accounts. */
  keyIn: string[];
};

/** Lets a CLI work in such a namespace with the key of a shell; gives how that ended, and the outside names that it asked for. */
export async function namesAskedFor(name: string): Promise<Told> {
  const words = [...isolated.slice(1), process.execPath, outsideNames, name];
  const { stdout } = await run(isolated[0], words, { timeout: 400_000 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Told;
}
