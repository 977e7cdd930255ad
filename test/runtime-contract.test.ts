import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/runtime-contract.md'), 'utf8');

/** The clauses of the contract: what, row and test. */
const clauses = page
  .slice(page.indexOf('## Clauses'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('.test.ts'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, clause = '', row = '', file = '']) => [clause, row, file.replaceAll('`', '')] as const);

test('the contract has clauses', () => {
  expect(clauses.length).toBeGreaterThan(20);
});

test.each(clauses)('%s (%s) has a test', (_clause, row, file) => {
  const source = readFileSync(join(root, file), 'utf8');
  const titles = [...source.matchAll(/\btest(?:\.each\([^]*?\))?\(\s*'((?:[^'\\]|\\.)+)'/g)].map(
    (match) => match[1] ?? '',
  );
  expect(titles.length).toBeGreaterThan(0);
  if (row !== '7.23') expect(titles.some((title) => title.includes(`[${row}]`))).toBe(true);
});

test('the page names each route and each event of the contract', async () => {
  const { runtimeRoutes } = await import('@pawl/protocol/runtime/routes');
  for (const { path } of Object.values(runtimeRoutes)) expect(page).toContain(path);
  const source = readFileSync(join(root, 'packages/schema/src/runtime/runtime-event.ts'), 'utf8');
  const types = [...source.matchAll(/type: z\.literal\('([A-Z]\w+)'\)/g)].map((match) => match[1] ?? '');
  expect(types).toHaveLength(10);
  for (const type of types) expect(page).toContain(`\`${type}\``);
});
