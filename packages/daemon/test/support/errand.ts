import type { AgentView } from '@pawl/protocol/agents/view';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestDaemon } from './daemon.ts';

/** Steps of an agent that commits one file. */
export function committing(path: string, content: string): unknown[] {
  return [{ write: { path, content } }, { commit: `write ${path}` }];
}

/** An idle errand that has done these steps. */
export async function doneErrand(daemon: TestDaemon, steps: unknown[], words = 'fix the typo'): Promise<AgentView> {
  const { id } = await daemon.work([...steps, 'complete'], { task: words, mode: 'errand' });
  return daemon.ended(id);
}

/** A hash of every file below a repository's root: work tree, index, refs and config, but not objects and worktrees. */
export function fingerprint(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (directory: string): void => {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      const key = relative(root, path);
      if (/^\.git\/(?:objects|worktrees)$/.test(key)) continue;
      const info = lstatSync(path);
      if (info.isDirectory()) visit(path);
      else if (info.isSymbolicLink()) found[key] = readlinkSync(path);
      else found[key] = createHash('sha256').update(readFileSync(path)).digest('hex') + info.mode;
    }
  };
  visit(root);
  return found;
}
