import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { findImports } from '../scripts/find-imports.ts';

const root = join(import.meta.dirname, '..');
const mostFiles = 15;

type Walk = { title: string; parts: string[][] };

/** The walks of ARCHITECTURE.md: fenced blocks with a title, then files from `packages/`; an arrow starts a new part. */
function readWalks(): Walk[] {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  return [...text.matchAll(/^```walk\n([\s\S]*?)^```$/gm)].map(([, block = '']) => {
    const [title = '', ...lines] = block.trim().split('\n');
    const parts: string[][] = [[]];
    for (const line of lines) {
      if (line.startsWith('→')) parts.push([]);
      else parts.at(-1)?.push(posix.join('packages', line));
    }
    return { title, parts };
  });
}

function importedFiles(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return findImports({ path, text }).flatMap(({ module }) => {
    const shared = /^@pawl\/([^/]+)\/(.+)$/.exec(module);
    if (shared !== null) return [`packages/${shared[1]}/src/${shared[2]}.ts`];
    return module.startsWith('.') ? [posix.join(posix.dirname(path), module)] : [];
  });
}

const walks = readWalks();

test('ARCHITECTURE.md has the walks of work, output, mail and a change', () => {
  expect(walks.map(({ title }) => title)).toEqual(['pawl work', 'a line of output', 'pawl send', 'a change to main']);
});

test.each(walks)('$title takes few files, and each leads to the next', ({ parts }) => {
  const files = parts.flat();
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(files.length).toBeLessThanOrEqual(mostFiles);
  expect(new Set(files).size).toBe(files.length);
  const pairs = parts.flatMap((part) => part.slice(1).map((file, index) => [part[index] ?? '', file] as const));
  const isLinked = ([one, other]: readonly [string, string]) =>
    importedFiles(one).includes(other) || importedFiles(other).includes(one);
  expect(pairs.filter((pair) => !isLinked(pair))).toEqual([]);
});
