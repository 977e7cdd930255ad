import { chmod, mkdir, readFile, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeInside } from '../../src/tools/workspace-file.ts';
import { resolveInside } from '../../src/tools/workspace-path.ts';
import { openWorkspace } from '../support/workspace.ts';

describe('Read', () => {
  it('numbers lines, cuts at 64 KiB and reads on by range [W2-22]', async () => {
    await using space = await openWorkspace();
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index + 1} ${'x'.repeat(20)}`);
    await writeFile(join(space.root, 'long.txt'), lines.join('\n'));
    const start = await space.call('Read', { path: 'long.txt' });
    expect(start.text.length).toBeLessThan(66_000);
    expect(start.text).toContain('     1\tline 1 ');
    expect(start.text).toMatch(/cut after line \d+ of 5000/);
    const part = await space.call('Read', { file_path: 'long.txt', line_range: [4_999, 6_000] });
    expect(part.text.split('\n').map((line) => line.trim().slice(0, 4))).toEqual(['4999', '5000']);
    expect((await space.call('Read', { file: 'long.txt', max_bytes: 100 })).text.length).toBeLessThan(200);
  });

  it('shows images, and refuses binary files, directories and missing ones', async () => {
    await using space = await openWorkspace();
    await writeFile(join(space.root, 'a.png'), Buffer.from([1, 0, 2]));
    await writeFile(join(space.root, 'a.bin'), Buffer.from([1, 0, 2]));
    expect((await space.call('Read', { path: 'a.png' })).images).toMatchObject([{ mediaType: 'image/png' }]);
    for (const path of ['a.bin', '.', 'missing']) {
      expect(await space.call('Read', { path })).toMatchObject({ isError: true });
    }
  });
});

describe('paths [W2-24]', () => {
  const escapes = ['../outside/secret', '/etc/passwd', 'link/secret', 'a/../../outside/secret', 'file-link', 'x\0y'];

  it('stay in the workspace, for reading and writing', async () => {
    await using space = await openWorkspace();
    await writeFile(join(space.outside, 'secret'), 'secret');
    await symlink(space.outside, join(space.root, 'link'));
    await symlink(join(space.outside, 'secret'), join(space.root, 'file-link'));
    for (const path of escapes) {
      expect((await space.call('Read', { path })).isError, path).toBe(true);
      expect((await space.call('Write', { path, content: 'overwritten' })).isError, path).toBe(true);
      expect((await space.call('Edit', { path, old_string: 'secret', new_string: '' })).isError, path).toBe(true);
    }
    expect(await readFile(join(space.outside, 'secret'), 'utf8')).toBe('secret');
  });

  it('may be absolute, and may go through links that stay inside', async () => {
    await using space = await openWorkspace();
    await mkdir(join(space.root, 'real'));
    await symlink('real', join(space.root, 'alias'));
    expect(await space.call('Write', { path: join(space.root, 'alias/new/a.txt'), content: 'a' })).toMatchObject({
      isError: false,
    });
    expect(await readFile(join(space.root, 'real/new/a.txt'), 'utf8')).toBe('a');
  });

  it('do not reach into .git', async () => {
    await using space = await openWorkspace();
    for (const path of ['.git/config', '.GIT/hooks/pre-commit', 'sub/.git']) {
      expect((await space.call('Write', { path, content: '' })).isError).toBe(true);
    }
  });

  it('keep a link that is swapped in after the check from being followed', async () => {
    await using space = await openWorkspace();
    await mkdir(join(space.root, 'dir'));
    await writeFile(join(space.outside, 'a.txt'), 'outside');
    const directory = await resolveInside(space.root, 'dir/a.txt');
    await rename(join(space.root, 'dir'), join(space.root, 'moved'));
    await symlink(space.outside, join(space.root, 'dir'));
    await expect(writeInside(directory, Buffer.from('attack'), 'n1')).rejects.toThrow(/symbolic link|not a directory/);
    const file = await resolveInside(space.root, 'moved/a.txt');
    await symlink(join(space.outside, 'a.txt'), join(space.root, 'moved/a.txt'));
    await writeInside(file, Buffer.from('attack'), 'n2').catch(() => {});
    expect(await readFile(join(space.outside, 'a.txt'), 'utf8')).toBe('outside');
  });

  it('never lead outside while another process swaps directory and link', async () => {
    await using space = await openWorkspace();
    const place = join(space.root, 'dir');
    const swapping = new AbortController();
    const swaps = (async () => {
      while (!swapping.signal.aborted) {
        await rm(place, { recursive: true, force: true }).catch(() => {});
        await symlink(space.outside, place).catch(() => {});
        await unlink(place).catch(() => {});
        await mkdir(place).catch(() => {});
      }
    })();
    for (let round = 0; round < 200; round++) await space.call('Write', { path: 'dir/a.txt', content: `${round}` });
    swapping.abort();
    await swaps;
    await expect(stat(join(space.outside, 'a.txt'))).rejects.toThrow('ENOENT');
  });
});

describe('Write [W2-25]', () => {
  it('warns about a file that was not read, and refuses it in strict mode', async () => {
    await using warning = await openWorkspace('warn');
    await writeFile(join(warning.root, 'a.txt'), 'old');
    const written = await warning.call('Write', { path: 'a.txt', content: 'new' });
    expect(written).toMatchObject({ isError: false });
    expect(written.text).toContain('without having been read');
    await using strict = await openWorkspace('strict');
    await writeFile(join(strict.root, 'a.txt'), 'old');
    expect(await strict.call('Write', { path: 'a.txt', content: 'new' })).toMatchObject({ isError: true });
    await strict.call('Read', { path: 'a.txt' });
    expect(await strict.call('Write', { path: 'a.txt', content: 'new' })).toMatchObject({ isError: false });
    await using off = await openWorkspace('off');
    await writeFile(join(off.root, 'a.txt'), 'old');
    expect((await off.call('Write', { path: 'a.txt', content: 'new' })).text).not.toContain('Warning');
  });

  it('refuses a file that changed between Read and Write', async () => {
    await using space = await openWorkspace();
    await writeFile(join(space.root, 'a.txt'), 'one');
    await space.call('Read', { path: 'a.txt' });
    await writeFile(join(space.root, 'a.txt'), "somebody else's work");
    expect((await space.call('Write', { path: 'a.txt', content: 'mine' })).text).toContain('has changed since');
    expect(await readFile(join(space.root, 'a.txt'), 'utf8')).toBe("somebody else's work");
  });

  it('keeps permissions, leaves no temporary file and replaces no directory', async () => {
    await using space = await openWorkspace();
    await writeFile(join(space.root, 'run.sh'), 'old');
    await chmod(join(space.root, 'run.sh'), 0o750);
    await space.call('Write', { path: 'run.sh', content: 'new' });
    expect((await stat(join(space.root, 'run.sh'))).mode & 0o777).toBe(0o750);
    await mkdir(join(space.root, 'dir'));
    expect(await space.call('Write', { path: 'dir', content: 'x' })).toMatchObject({ isError: true });
    expect((await space.call('Glob', {})).text).toBe('run.sh');
  });
});

describe('Edit', () => {
  it('applies several replacements, or none', async () => {
    await using space = await openWorkspace();
    const file = join(space.root, 'a.txt');
    await writeFile(file, 'one two two');
    const good = { old_string: 'one', new_string: '1' };
    expect(
      (await space.call('Edit', { path: 'a.txt', edits: [good, { old_string: 'two', new_string: '2' }] })).text,
    ).toContain('occurs 2 times');
    expect(await readFile(file, 'utf8')).toBe('one two two');
    await space.call('Edit', {
      path: 'a.txt',
      edits: [good, { old_string: 'two', new_string: '$&', replace_all: true }],
    });
    expect(await readFile(file, 'utf8')).toBe('1 $& $&');
    await space.call('Edit', { path: 'a.txt', old_string: '1', new_string: 'one' });
    expect(await readFile(file, 'utf8')).toBe('one $& $&');
  });

  it('refuses text that does not occur, a missing file and bytes that are no text', async () => {
    await using space = await openWorkspace();
    await writeFile(join(space.root, 'a.txt'), 'a');
    await writeFile(join(space.root, 'latin1.txt'), Buffer.from([0xe9]));
    const edit = { old_string: 'b', new_string: 'c' };
    for (const path of ['a.txt', 'missing.txt', 'latin1.txt']) {
      expect(await space.call('Edit', { path, ...edit })).toMatchObject({ isError: true });
    }
    await unlink(join(space.root, 'a.txt'));
  });
});
