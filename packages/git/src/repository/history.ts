import { runOnChain } from '../command/chain-command.ts';
import { gitLimits } from '../command/limit.ts';
import type { Repository } from './repository.ts';

/** A part of the history: each commit of it with its parents, in the order in which git gave them. */
export type History = ReadonlyMap<string, readonly string[]>;

/** Reads the part of the history that `rev-list` gives for these words, and for these lines on its standard input. */
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

/** The commits of a history that can be reached from some commits, and those outside of it that they lead to. */
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
