import { promptLimits } from '@pawl/core/prompts/prompt-limit';
import { loadPromptAssets } from '@pawl/daemon/prompts/assets';
import { readCustomTexts } from '@pawl/daemon/prompts/custom';
import { firstBytes, readPrompt, writePrompt } from '@pawl/daemon/prompts/sent';
import { programs } from '@pawl/protocol/node/programs';
import { workModes } from '@pawl/schema/record';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

test('the program contains the prompts, one for each mode [S4-19, S4-29, 7.13]', async () => {
  const assets = await loadPromptAssets(programs.prompts);
  expect(Object.keys(assets.modes).toSorted()).toEqual([...workModes].toSorted());
  expect(assets.commands).toContain('`pawl ps');
  expect(assets.modes.execute.map(({ tag }) => tag)).toContain('execution_protocol');
});

describe('a repository’s own texts [S4-20]', () => {
  test.each([
    ['supervisor', 'SUPERVISOR.md'],
    ['worker', 'WORKER.md'],
    ['merge-queue', 'REVIEWER.md'],
    ['workspace', 'WORKSPACE.md'],
    ['review', 'REVIEW.md'],
  ])('for the %s are in %s', async (role, name) => {
    await using place = await temporaryDirectory();
    write(place.path, `.multiclaude/${name}`, 'theirs');
    write(place.path, `.pawl/${name}`, 'ours');
    write(place.path, '.pawl/OTHER.md', 'nobody’s');
    expect(await readCustomTexts(place.path, role)).toEqual({ texts: ['ours', 'theirs'], problems: [] });
    for (const other of [null, 'somebody', '__proto__']) {
      expect(await readCustomTexts(place.path, other)).toEqual({ texts: [], problems: [] });
    }
  });

  test('are empty without files or worktree', async () => {
    await using place = await temporaryDirectory();
    expect(await readCustomTexts(place.path, 'worker')).toEqual({ texts: [], problems: [] });
    expect(await readCustomTexts(join(place.path, 'gone'), 'worker')).toEqual({ texts: [], problems: [] });
  });

  test('are read once, even under two names', async () => {
    await using place = await temporaryDirectory();
    write(place.path, '.pawl/WORKER.md', 'ours');
    symlinkSync('.pawl', join(place.path, '.multiclaude'));
    expect(await readCustomTexts(place.path, 'worker')).toEqual({ texts: ['ours'], problems: [] });
  });

  test.each<[what: string, make: (worktree: string, outside: string) => void, reason: string]>([
    [
      'a link out of it',
      (at, out) => symlinkSync(join(out, 'secret.md'), join(at, '.pawl/WORKER.md')),
      'out of the worktree',
    ],
    ['a link to a place outside', (at, out) => symlinkSync(out, join(at, '.multiclaude')), 'out of the worktree'],
    ['a directory', (at) => mkdirSync(join(at, '.pawl/WORKER.md')), 'not a regular file'],
    ['too large', (at) => write(at, '.pawl/WORKER.md', 'x'.repeat(promptLimits.customBytes + 1)), 'more than 65536'],
    ['not text', (at) => write(at, '.pawl/WORKER.md', 'a\0b'), 'is not text'],
    ['not UTF-8', (at) => write(at, '.pawl/WORKER.md', Buffer.from([0xc3, 0x28])), 'not valid'],
    ['a loop', (at) => symlinkSync('WORKER.md', join(at, '.pawl/WORKER.md')), 'ELOOP'],
  ])('a file that is %s is refused, and the other one is used', async (what, make, reason) => {
    await using place = await temporaryDirectory();
    const worktree = join(place.path, 'worktree');
    const outside = join(place.path, 'outside');
    write(outside, 'secret.md', 'secret');
    write(outside, 'WORKER.md', 'secret');
    mkdirSync(join(worktree, '.pawl'), { recursive: true });
    make(worktree, outside);
    const other = what === 'a link to a place outside' ? '.pawl' : '.multiclaude';
    write(worktree, `${other}/WORKER.md`, 'good');
    const { texts, problems } = await readCustomTexts(worktree, 'worker');
    expect(texts).toEqual(['good']);
    expect(problems).toEqual([expect.stringContaining(reason)]);
  });

  test('the largest allowed file is read', async () => {
    await using place = await temporaryDirectory();
    write(place.path, '.pawl/WORKER.md', 'x'.repeat(promptLimits.customBytes));
    expect((await readCustomTexts(place.path, 'worker')).problems).toEqual([]);
  });
});

describe('the prompt of a session [W3-02]', () => {
  test('is stored for its owner only, and read again', async () => {
    await using place = await temporaryDirectory();
    const directory = join(place.path, 'session');
    await writePrompt(directory, { system: 'be good', turn: 'do it' });
    await writePrompt(directory, { system: 'be good', turn: 'do it, é' });
    expect(readPrompt(directory)).toEqual({ system: 'be good', turn: 'do it, é' });
    expect(statSync(join(directory, 'prompt.json')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(directory, 'prompt.json.tmp'))).toBe(false);
  });

  test('is empty if the file is not what we wrote', async () => {
    await using place = await temporaryDirectory();
    expect(readPrompt(place.path)).toBeNull();
    for (const text of ['{', '[]', '{"system":1,"turn":""}', 'null', '[['.repeat(100_000)]) {
      writeFileSync(join(place.path, 'prompt.json'), text);
      expect(readPrompt(place.path)).toBeNull();
    }
    writeFileSync(join(place.path, 'other'), '{"system":"","turn":"secret"}');
    await using linked = await temporaryDirectory();
    symlinkSync(join(place.path, 'other'), join(linked.path, 'prompt.json'));
    expect(readPrompt(linked.path)).toBeNull();
  });

  test('of an earlier version is the session’s input', async () => {
    await using place = await temporaryDirectory();
    writeFileSync(join(place.path, 'prompt'), 'hello');
    expect(readPrompt(place.path)).toEqual({ system: '', turn: 'hello' });
  });

  test('is cut without splitting a character', () => {
    expect(firstBytes('aé€😀', 20)).toBe('aé€😀');
    expect([0, 1, 2, 3, 5, 6, 9, 10].map((bytes) => firstBytes('aé€😀', bytes))).toEqual([
      '',
      'a',
      'a',
      'aé',
      'aé',
      'aé€',
      'aé€',
      'aé€😀',
    ]);
  });
});

function write(root: string, path: string, content: string | Buffer): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
  chmodSync(join(root, path), 0o644);
}
