import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const built = join(import.meta.dirname, '../../../dist/web');
const limitBytes = 200 * 1_000;

test('the first load is at most 200 kB in gzip, names its files by content, and loads nothing from elsewhere', () => {
  const html = readFileSync(join(built, 'index.html'), 'utf8');
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThanOrEqual(3);
  for (const file of files) expect(file).toMatch(/^\/assets\/[\w.-]+-[\w-]{8}\.(?:js|css|svg)$/);
  const bytes = files.map((file) => gzipSync(readFileSync(join(built, file))).length);
  expect(bytes.reduce((sum, each) => sum + each, gzipSync(html).length)).toBeLessThanOrEqual(limitBytes);
  const style = files.filter((file) => file.endsWith('.css')).map((file) => readFileSync(join(built, file), 'utf8'));
  expect(style.join('')).not.toMatch(/url\(\s*["']?https?:|@import/);
});
