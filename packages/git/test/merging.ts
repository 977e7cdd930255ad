import { appendFileSync, chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRepository, resolveCommit } from '../src/repository/repository.ts';
import { addWorktree } from '../src/worktree/worktree.ts';
import { commitAll, makeRepository, temporaryDirectory, write } from './fixture.ts';

/** A repository on main, and a worktree on `work/otter` with a commit of its own. */
export async function errandPlace(files?: Record<string, string>) {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'), files);
  const repository = await openRepository(root);
  const base = await resolveCommit(repository);
  const request = { ownDir: join(home, 'own.git'), path: join(home, 'tree'), branch: 'work/otter', base };
  await addWorktree(repository, request);
  return {
    home,
    root,
    repository,
    ...request,
    request,
    /** Commits files on the branch, and gives the commit. */
    work(changed: Record<string, string>) {
      write(request.path, changed);
      return commitAll(request.path, 'errand');
    },
  };
}

/** Puts commands wherever git would run them in the user's repository; each leaves a marker. */
export function plantCommands(home: string, root: string): () => string[] {
  const markers = join(home, 'markers');
  mkdirSync(markers);
  const script = join(home, 'run');
  writeFileSync(script, `#!/bin/sh\n: >"${markers}/$1"\ncat\n`, { mode: 0o755 });
  appendFileSync(
    join(root, '.git/config'),
    `[core]\n\tfsmonitor = ${script} fsmonitor\n\thooksPath = ${join(home, 'hooks')}\n` +
      `[diff]\n\texternal = ${script} external\n[diff "evil"]\n\ttextconv = ${script} textconv\n\tcommand = ${script} command\n` +
      `[filter "evil"]\n\tclean = ${script} clean\n\tsmudge = ${script} smudge\n` +
      `[merge]\n\tdefault = evil\n[merge "evil"]\n\tdriver = ${script} driver\n` +
      `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${script} gpg\n`,
  );
  mkdirSync(join(home, 'hooks'));
  for (const hook of ['reference-transaction', 'post-index-change', 'post-checkout', 'post-merge', 'pre-commit']) {
    const path = join(home, 'hooks', hook);
    writeFileSync(path, `#!/bin/sh\n: >"${markers}/${hook}"\n`);
    chmodSync(path, 0o755);
  }
  return () => readdirSync(markers).sort();
}
