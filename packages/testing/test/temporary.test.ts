import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../src/temporary.ts';

test('a temporary directory is real, its own, and gone after its scope', async () => {
  const seen: string[] = [];
  {
    await using first = await temporaryDirectory();
    await using second = await temporaryDirectory();
    writeFileSync(join(first.path, 'file'), 'content');
    expect(first.path).toBe(realpathSync(first.path));
    expect(first.path).not.toBe(second.path);
    seen.push(first.path, second.path);
  }
  expect(seen.map((path) => existsSync(path))).toEqual([false, false]);
});
