import type { InputFile } from '@pawl/core/sessions/input-files';
import { writePrivateFile } from '@pawl/daemon/accounts/private-file';
import { writeInput } from '@pawl/daemon/sessions/input-writer';
import { storeBody } from '@pawl/daemon/mail/mail-body';
import { noteDelivered } from '@pawl/daemon/mail/receipts';
import { keepMirror } from '@pawl/daemon/mail/files/mirror';
import { writePrograms } from '@pawl/daemon/platform/programs-file';
import { writePrompt } from '@pawl/daemon/prompts/sent';
import { keepStateFile } from '@pawl/daemon/agents/state-file';
import type { SessionPlatform } from '@pawl/daemon/accounts/session-platform';
import { providerRegistry } from '@pawl/providers/registry';
import { updateAgent } from '@pawl/store/agents/agents';
import { writeDurably } from '@pawl/store/directory/durable-file';
import { temporaryDirectory } from '@pawl/testing/temporary';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openMailHome } from '../support/mail-home.ts';

/**
 * Fails unless `change` replaces the file at `path`: a hard link to the old file keeps the old content, which writing
 * in place would change under a reader. No draft may be left.
 */
async function expectReplaced(path: string, change: () => unknown): Promise<void> {
  const kept = join(dirname(path), 'second-name');
  const before = readFileSync(path, 'utf8');
  linkSync(path, kept);
  await change();
  expect(readFileSync(kept, 'utf8')).toBe(before);
  expect(readFileSync(path, 'utf8')).not.toBe(before);
  expect(readdirSync(dirname(path)).filter((name) => /\.(tmp|new)$/.test(name))).toEqual([]);
}

describe('a file that others read is replaced atomically:', () => {
  test('state.json, readable by its owner only [S4-26]', async () => {
    await using place = await openMailHome();
    const { platform, home } = place;
    const file = () => keepStateFile({ ...platform, environment: {}, repositories: new Map(), startedAt: 1 }).close();
    await file();
    await expectReplaced(home.state, async () => {
      const completion = { at: 1, summary: null, failure: null };
      await place.store.write((tx) => updateAgent(tx, place.fox.id, { completion }));
      await file();
    });
    expect(statSync(home.state).mode & 0o777).toBe(0o400);
  });

  test('the file of a mail [S4-15]', async () => {
    await using place = await openMailHome();
    const { platform, store, home, fox, owl } = place;
    const mail = await place.send(fox, owl, 'hello');
    await keepMirror(platform).close();
    await expectReplaced(join(home.messages, 'shop', 'old-owl', `${mail.id}.json`), async () => {
      await store.write((tx) => noteDelivered(tx, mail, 'pull'));
      await keepMirror(platform).close();
    });
  });

  test('the body of a long mail', async () => {
    await using place = await openMailHome();
    const { id, file } = await storeBody(place.platform, 'first '.repeat(2_000));
    const path = join(place.home.mail, file ?? '');
    await expectReplaced(path, () => storeBody(place.platform, 'again '.repeat(2_000), id));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  const writers: [string, (path: string, text: string) => Promise<void> | void][] = [
    ['a prompt', (path, turn) => writePrompt(dirname(path), { system: '', turn })],
    ['a secret', writePrivateFile],
    ['a record of the store', writeDurably],
    [
      'what programs look like',
      (programs, provider) =>
        writePrograms({
          home: { programs },
          providers: providerRegistry([]),
          choices: { provider },
        } as SessionPlatform),
    ],
  ];
  test.each(writers)('%s, private', async (_, write) => {
    await using place = await temporaryDirectory();
    const path = join(place.path, 'prompt.json');
    await write(path, 'one');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expectReplaced(path, () => write(path, 'two'));
    expect(readFileSync(path, 'utf8')).toContain('two');
  });
});

test('two sessions of one account that start at once write the same private file', async () => {
  await using place = await temporaryDirectory();
  const path = join(place.path, 'models.json');
  const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
  await Promise.all(texts.map((text) => writePrivateFile(path, text)));
  expect(texts).toContain(readFileSync(path, 'utf8'));
  expect(readdirSync(place.path)).toEqual(['models.json']);
});

describe('input files', () => {
  const files: InputFile[] = [
    { path: 'task.md', content: 'task\n' },
    { path: 'context/tasks/one.md', content: 'one\n' },
    { path: 'manifest.json', content: '{}\n' },
  ];
  const unwritable = { path: `context/tasks/${'x'.repeat(300)}.md`, content: '' };
  const inputOf = (worktree: string, path: string) => join(worktree, '.pawl', 'input', path);

  test('are private, and an earlier run leaves nothing behind [S3-18]', async () => {
    await using place = await temporaryDirectory();
    mkdirSync(inputOf(place.path, 'context/tasks'), { recursive: true });
    writeFileSync(inputOf(place.path, 'context/tasks/old.md'), 'old');
    await writeInput(place.path, files);
    for (const { path, content } of files) {
      expect(readFileSync(inputOf(place.path, path), 'utf8')).toBe(content);
      expect(statSync(inputOf(place.path, path)).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(inputOf(place.path, 'context/tasks'))).toEqual(['one.md']);
    await writeInput(place.path, [{ path: 'task.md', content: 'another\n' }]);
    expect(readFileSync(inputOf(place.path, 'task.md'), 'utf8')).toBe('another\n');
    expect(existsSync(join(place.path, '.pawl', 'output'))).toBe(true);
  });

  test('have a manifest only when all of them exist, also after an earlier run [S3-18]', async () => {
    await using place = await temporaryDirectory();
    await writeInput(place.path, files);
    const later = [{ path: 'task.md', content: 'later\n' }, unwritable, { path: 'manifest.json', content: '[]' }];
    await expect(writeInput(place.path, later)).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    expect(readFileSync(inputOf(place.path, 'task.md'), 'utf8')).toBe('later\n');
    expect(existsSync(inputOf(place.path, 'manifest.json'))).toBe(false);
  });

  test('never follow a link out of the worktree', async () => {
    await using place = await temporaryDirectory();
    const [outside, worktree] = [join(place.path, 'outside'), join(place.path, 'worktree')];
    mkdirSync(join(outside, 'tasks'), { recursive: true });
    writeFileSync(join(outside, 'kept.md'), 'kept');
    mkdirSync(inputOf(worktree, ''), { recursive: true });
    symlinkSync(outside, inputOf(worktree, 'context'));
    symlinkSync(join(outside, 'kept.md'), inputOf(worktree, 'task.md'));
    await writeInput(worktree, files);
    expect(readdirSync(join(outside, 'tasks'))).toEqual([]);
    expect(readFileSync(join(outside, 'kept.md'), 'utf8')).toBe('kept');
    const linked = join(place.path, 'linked');
    mkdirSync(linked);
    symlinkSync(outside, join(linked, '.pawl'));
    await expect(writeInput(linked, files)).rejects.toMatchObject({ code: 'conflict', hint: expect.any(String) });
    expect(readdirSync(outside).toSorted()).toEqual(['kept.md', 'tasks']);
  });
});
