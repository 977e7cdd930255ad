import type { Standing, Survey } from '@pawl/roster/anchor/survey';
import type { SessionSite } from '@pawl/roster/anchor/begin-session';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A project on disk whose sessions a test begins and ends. */
export async function aProject() {
  const directory = await temporaryDirectory('pawl-anchors');
  const root = join(directory.path, 'proj');
  mkdirSync(join(root, '.git', 'info'), { recursive: true });
  const at = (path: string) => join(root, path);
  return {
    root,
    outside: directory.path,
    place: (environment: NodeJS.ProcessEnv = {}): SessionSite => ({ root, environment, worktrees: [] }),
    put(path: string, text: string) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    read: (path: string) => readFileSync(at(path), 'utf8'),
    has: (path: string) => existsSync(at(path)),
    /** Every file but git's, relative to the project. */
    files: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .filter((path) => !path.startsWith('.git/'))
        .toSorted(),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

const somebody = { cwd: '/p', provider: 'claude', start: 'b/7', startedAt: null, agentId: null, session: null };

/** What a look around is made to say; these processes live. */
export function surveyed(
  standing: Standing,
  { own = null, living = [] }: { own?: Survey['own']; living?: number[] } = {},
): () => Survey {
  const others = standing === 'alone' || standing === 'unknown' ? [] : [{ ...somebody, pid: 7 }];
  const doubts = standing === 'unknown' ? ['there is no /proc'] : [];
  return () => ({ standing, others, own, doubts, isAlive: ({ pid }) => living.includes(pid) });
}
