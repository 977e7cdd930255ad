import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Each file below a directory with its text. */
function filesBelow(directory: string): Record<string, string> {
  const entries = readdirSync(join(root, directory), { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(join(root, directory).length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

test.each(['agents', 'prompts'])('the bundle has the default %s, as they are in the sources [S4-19]', (name) => {
  const sources = filesBelow(`packages/daemon/${name}`);
  expect(Object.keys(sources).length).toBeGreaterThan(5);
  expect(filesBelow(`dist/${name}`)).toEqual(sources);
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  expect(files).toContain('dist');
});
