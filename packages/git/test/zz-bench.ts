import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openRepository, resolveCommit } from '../src/repository.ts';
import { addWorktree } from '../src/worktree.ts';
import { worktreeStatus } from '../src/worktree-status.ts';
import { trashWorktree } from '../src/trash.ts';
import { git, makeRepository } from './fixture.ts';
const run = promisify(execFile);
const home = mkdtempSync('/tmp/pawl-bench-');
const files: Record<string,string> = {};
for (let i = 0; i < 1000; i++) files[`d${i % 40}/f${i}.txt`] = `file ${i}\n`.repeat(50);
const root = makeRepository(join(home, 'p'), files);
const r = await openRepository(root); const base = await resolveCommit(r); const ownDir = join(home, 'own.git');
const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!;
const plain: number[] = [], ours: number[] = [], st: number[]=[], tr:number[]=[], reg:number[]=[];
await addWorktree(r, { ownDir, path: join(home, 't/warm'), branch: 'work/warm', base });
for (let i = 0; i < 25; i++) {
  let t = performance.now();
  await run('git', ['worktree', 'add', '-b', `plain/${i}`, join(home, 't', `p${i}`), base], { cwd: root });
  plain.push(performance.now() - t);
  t = performance.now();
  await addWorktree(r, { ownDir, path: join(home, 't', `o${i}`), branch: `work/${i}`, base });
  ours.push(performance.now() - t);
  t = performance.now(); await worktreeStatus(r, { ownDir, path: join(home, 't', `o${i}`) }); st.push(performance.now() - t);
  t = performance.now(); await addWorktree(r, { ownDir, path: join(home, 't', `o${i}`), branch: `work/${i}`, base }); reg.push(performance.now() - t);
}
for (let i = 0; i < 25; i++) { const t = performance.now(); await trashWorktree(r, { path: join(home, 't', `o${i}`), branch: `work/${i}`, trashDir: join(home,'trash'), at: 1 }); tr.push(performance.now() - t); }
console.log({ plain: med(plain), ours: med(ours), ratio: med(ours) / med(plain), min: [plain[0], ours[0], ours[0]!/plain[0]!], status: med(st), again: med(reg), trash: med(tr) });
let t = performance.now();
await Promise.all(Array.from({ length: 50 }, (_, i) => addWorktree(r, { ownDir, path: join(home, 't', `c${i}`), branch: `work/c${i}`, base })));
console.log('50 at once', performance.now() - t);
t = performance.now(); for (let i = 0; i < 10; i++) await openRepository(root); console.log('open', (performance.now() - t) / 10);
rmSync(home, { recursive: true });
