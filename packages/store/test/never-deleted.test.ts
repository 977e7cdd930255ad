import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const packages = join(import.meta.dirname, '../..');
const sources = globSync('*/src/**/*.ts', { cwd: packages }).map((path) => ({
  path,
  text: readFileSync(join(packages, path), 'utf8'),
}));

/** Every way in which our sources could delete rows of a table. */
const deletions = [
  /\bdeleteFrom\(\s*['"`](\w+)/g,
  /\bdelete\s+from\s+["'`]?(\w+)/gi,
  /\btruncate\s+(?:table\s+)?["'`]?(agents|messages)\b/gi,
  /\bdrop\s+table\s+(?:if\s+exists\s+)?["'`]?(\w+)/gi,
  /\bdropTable\(\s*['"`](\w+)/g,
  /\bon\s+delete\s+(cascade|set)/gi,
  /\bonDelete\(\s*['"`](cascade|set)/g,
];

function deletedIn(text: string): string[] {
  return deletions.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => (match[1] ?? '').toLowerCase()));
}

test('no statement deletes agents, messages, or anything by cascade [S1-02, S3-71, W1-01, 3.2.6]', () => {
  expect(sources.length).toBeGreaterThan(50);
  for (const { path, text } of sources) {
    const deleted = deletedIn(text).filter((what) => ['agents', 'messages', 'cascade', 'set'].includes(what));
    expect(deleted, path).toEqual([]);
  }
});

test('no statement changes a parent or a fork point [3.2.6]', () => {
  for (const { path, text } of sources) {
    expect(text, path).not.toMatch(/\.set\(\s*\{[^}]*\b(?:parent_id|fork_message_id)\b/);
    expect(text, path).not.toMatch(/\bset\s+(?:\w+\s*=[^;`]*,\s*)?(?:parent_id|fork_message_id)\s*=/i);
  }
});

test.each([
  `db.deleteFrom('agents')`,
  'sql`DELETE FROM "messages" where id = 1`',
  'sql`truncate table messages`',
  'sql`drop table if exists agents`',
  `column.references('agents.id').onDelete('cascade')`,
])('%s would be noticed', (text) => {
  expect(deletedIn(text)).toHaveLength(1);
});
