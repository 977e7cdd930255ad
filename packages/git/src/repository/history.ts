import { runOnChain } from '../command/chain-command.ts';
import { gitLimits } from '../command/limit.ts';
import type { Repository } from './repository.ts';

/** A part of the history: each commit with its parents, in git's order. */
export type History = ReadonlyMap<string, readonly string[]>;

/** Reads the history that `rev-list` prints for these arguments and these lines of input. */
export async function readHistory(
  repository: Repository,
  ownDir: string,
  { words, lines }: { words: readonly string[]; lines: readonly string[] },
): Promise<History> {
  const input = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const args = ['rev-list', '--parents', ...words, '--stdin'];
  const { stdout } = await runOnChain(repository, ownDir, args, { input, maxBytes: gitLimits.objectListBytes });
  const history = new Map<string, string[]>();
  for (const line of stdout.split('\n')) {
    const [id = '', ...parents] = line.split(' ');
    if (id !== '') history.set(id, parents);
  }
  return history;
}

/** The commits of a history reachable from some commits, and those just outside of it. */
export function walk(history: History, from: readonly string[]): { inside: Set<string>; outside: Set<string> } {
  const inside = new Set<string>();
  const outside = new Set<string>();
  const left = [...from];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const parents = history.get(id);
    if (parents === undefined) outside.add(id);
    else if (!inside.has(id)) {
      inside.add(id);
      left.push(...parents);
    }
  }
  return { inside, outside };
}
