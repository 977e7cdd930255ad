import { readdir } from 'node:fs/promises';
import * as z from 'zod';
import { runProgram } from './run-program.ts';
import type { Tool } from './tool.ts';
import { done } from './tool.ts';

const input = z.strictObject({});

/** How many entries of each list are shown. */
const listed = 100;

export const repoInfo: Tool<z.infer<typeof input>> = {
  name: 'get_repo_info',
  description: 'Shows the branch, the last commits, changed files and the top directory of the workspace.',
  input,
  describe: () => ({ title: 'Look at the repository', input: {} }),
  async run(_, { root, signal }) {
    const git = async (...words: string[]) =>
      (await runProgram('git', words, { cwd: root, signal }))?.stdout.trim() ?? '';
    const [branch, log, status, entries] = await Promise.all([
      git('branch', '--show-current'),
      git('log', '-5', '--format=%h %s'),
      git('status', '--short'),
      readdir(root, { withFileTypes: true }),
    ]);
    const names = entries
      .filter(({ name }) => name !== '.git')
      .map((each) => (each.isDirectory() ? `${each.name}/` : each.name));
    const changed = status.split('\n').slice(0, listed).join('\n');
    return done(
      [
        `Root: ${root}`,
        `Branch: ${branch || '(none)'}`,
        `Last commits:\n${log || '(none)'}`,
        `Changed files:\n${changed || '(none)'}`,
        `Files:\n${names.toSorted().slice(0, listed).join('\n')}`,
      ].join('\n\n'),
    );
  },
};
