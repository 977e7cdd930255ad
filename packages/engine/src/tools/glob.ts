import { readdir } from 'node:fs/promises';
import { matchesGlob } from 'node:path';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import { runProgram } from './run-program.ts';
import type { Tool } from './tool.ts';
import { done } from './tool.ts';

const input = z.strictObject({
  globs: z.array(z.string().min(1).max(500)).max(20).optional().describe('Such as src/**/*.ts. Default: every file.'),
  max_results: z.number().int().min(1).max(engineLimits.searchMostResults).optional().describe('Default 200.'),
});

export const glob: Tool<z.infer<typeof input>> = {
  name: 'Glob',
  description: 'Lists files of the workspace by name. Leaves out ignored files.',
  input,
  describe: ({ globs = ['**'] }) => ({ title: `List ${globs.join(', ')}`, input: { pattern: globs.join(' ') } }),
  async run({ globs, max_results: most = engineLimits.searchResults }, { root, signal }) {
    const all = await listFiles(root, signal);
    const found = all.filter((path) => globs === undefined || globs.some((each) => matches(path, each)));
    if (found.length === 0) return { ...done('No file matches.'), foundNothing: true };
    const rest = found.length > most ? `\n[${found.length - most} more]` : '';
    return done(`${found.slice(0, most).join('\n')}${rest}`);
  },
};

/** A pattern without a slash matches names in every directory. */
function matches(path: string, pattern: string): boolean {
  const plain = pattern.replace(/^\.\//, '');
  return matchesGlob(path, plain) || (!plain.includes('/') && matchesGlob(path, `**/${plain}`));
}

/** The files of the workspace: those that git tracks or would add; without a repository, all but hidden ones. */
async function listFiles(root: string, signal: AbortSignal): Promise<string[]> {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = await runProgram('git', words, { cwd: root, signal });
  if (listed !== null && listed.code === 0)
    return listed.stdout
      .split('\0')
      .filter((path) => path !== '')
      .toSorted();
  return (await walk(root, '')).toSorted();
}

async function walk(root: string, below: string): Promise<string[]> {
  const entries = await readdir(`${root}/${below}`, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    if (entry.isDirectory()) found.push(...(await walk(root, `${below}${entry.name}/`)));
    else if (entry.isFile()) found.push(`${below}${entry.name}`);
  }
  return found;
}
