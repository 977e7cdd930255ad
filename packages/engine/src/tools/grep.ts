import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { ProgramEnd } from './run-program.ts';
import { runProgram } from './run-program.ts';
import type { Tool } from './tool.ts';
import { done, failed } from './tool.ts';

const input = z.strictObject({
  query: z.string().min(1).max(2_000).describe('A regular expression.'),
  globs: z.array(z.string().min(1).max(500)).max(20).optional().describe('Only files that match one of these.'),
  max_results: z.number().int().min(1).max(engineLimits.searchMostResults).optional().describe('Default 200.'),
});
type Input = z.infer<typeof input>;

export const grep: Tool<Input> = {
  name: 'Grep',
  description: 'Searches the files of the workspace for a regular expression. Leaves out ignored and binary files.',
  input,
  describe: ({ query, globs }) => ({ title: `Search for ${query}`, input: { pattern: query, glob: globs?.join(' ') } }),
  async run(given, { root, signal }) {
    const place = { cwd: root, signal };
    // Both run apart from this process, so a slow expression can be ended.
    const end =
      (await runProgram('rg', ripgrepWords(given), place)) ?? (await runProgram('git', gitWords(given), place));
    return end === null ? failed('Neither rg nor git is installed.') : outcomeOf(end, given);
  },
};

function ripgrepWords({ query, globs = [] }: Input): string[] {
  const fixed = [
    '--no-config',
    '--line-number',
    '--no-heading',
    '--with-filename',
    '--null',
    '--color=never',
    '--sort=path',
  ];
  return [...fixed, ...globs.flatMap((each) => ['--glob', each]), '--regexp', query, '--', '.'];
}

function gitWords({ query, globs = [] }: Input): string[] {
  const paths = globs.map((each) => `:(glob)${each.includes('/') ? each : `**/${each}`}`);
  return [
    'grep',
    '--no-index',
    '--exclude-standard',
    '-n',
    '-I',
    '-z',
    '--no-color',
    '-E',
    '-e',
    query,
    '--',
    ...paths,
  ];
}

function outcomeOf(
  { code, stdout, stderr, cut }: ProgramEnd,
  { max_results: most = engineLimits.searchResults }: Input,
) {
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length === 0) {
    if (code !== 0 && code !== 1) return failed(cut ? 'The search took too long.' : stderr.trim().slice(0, 2_000));
    return { ...done('Nothing found.'), foundNothing: true };
  }
  const shown = lines.slice(0, most).map(shownLine);
  const rest = lines.length > most ? [`[${lines.length - most} more]`] : cut ? ['[the search was cut]'] : [];
  return done([...shown, ...rest].join('\n'));
}

/** `path:line:text`, from a line whose path ends with a zero byte. */
function shownLine(line: string): string {
  const [, path = '', number = '', text = ''] = /^([^\0]*)\0(\d+)[:\0](.*)$/s.exec(line) ?? [];
  return `${path.replace(/^\.\//, '')}:${number}:${text.slice(0, engineLimits.matchCharacters)}`;
}
