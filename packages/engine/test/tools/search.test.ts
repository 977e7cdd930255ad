import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@pawl/testing/sample-repository';
import { describe, expect, it, vi } from 'vitest';
import { allTools, offeredTools, prepareCall } from '../../src/tools/tool-set.ts';
import { openWorkspace } from '../support/workspace.ts';

describe('Glob and Grep', () => {
  it('leave out ignored files and stop at their limits [W2-22]', async () => {
    await using space = await openWorkspace();
    await mkdir(join(space.root, 'src'));
    await writeFile(join(space.root, '.gitignore'), 'ignored.ts\n');
    await writeFile(join(space.root, 'ignored.ts'), 'needle');
    for (let index = 0; index < 250; index++) await writeFile(join(space.root, `src/f${index}.ts`), 'a\nneedle: 1\n');
    const found = await space.call('Glob', { globs: ['*.ts'] });
    expect(found.text.split('\n')).toHaveLength(201);
    expect(found.text).toContain('[50 more]');
    expect(found.text).not.toContain('ignored.ts');
    const lines = await space.call('Grep', { pattern: 'needle: [0-9]', globs: ['src/*.ts'] });
    expect(lines.text.split('\n')[0]).toBe('src/f0.ts:2:needle: 1');
    expect(lines.text).toContain('[50 more]');
    expect(await space.call('Glob', { globs: ['*.rs'] })).toMatchObject({ foundNothing: true, isError: false });
    expect(await space.call('Grep', { query: 'haystack' })).toMatchObject({ foundNothing: true, isError: false });
    expect(await space.call('Grep', { query: '(' })).toMatchObject({ isError: true });
  });

  it('searches with git where there is no ripgrep, and with ripgrep where there is', async () => {
    await using space = await openWorkspace();
    await writeFile(join(space.root, 'a.txt'), 'one\n');
    expect((await space.call('Grep', { query: 'on.' })).text).toBe('a.txt:1:one');
    const bin = join(space.outside, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'rg'), "#!/bin/sh\nprintf './a.txt\\0007:from rg\\n'\n", { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
    expect((await space.call('Grep', { query: 'on.' })).text).toBe('a.txt:7:from rg');
  });
});

describe('the other tools', () => {
  it('keep a list of steps, and describe the repository', async () => {
    await using space = await openWorkspace();
    const items = [
      { text: 'Look', status: 'completed' },
      { text: 'Act', status: 'in_progress' },
    ];
    expect((await space.call('Todo', { items })).text).toBe('[x] Look\n[>] Act');
    await writeFile(join(space.root, 'a.txt'), '');
    await git(space.root, ['add', '.']);
    await git(space.root, ['-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-q', '-m', 'feat: a']);
    const { text } = await space.call('get_repo_info', {});
    expect(text).toContain('Branch: main');
    expect(text).toContain('feat: a');
  });
});

describe('prepareCall', () => {
  it('refuses unknown tools, broken JSON and wrong types, and says why', () => {
    expect(prepareCall(allTools, 'Teleport', {})).toMatchObject({ kind: 'unknown-tool' });
    expect(prepareCall(allTools, 'Read', '{"path":')).toMatchObject({ kind: 'invalid-input' });
    for (const input of [null, [], 7, {}, { path: 7 }, { path: 'a', surprise: true }]) {
      expect(prepareCall(allTools, 'Read', input)).toMatchObject({ kind: 'invalid-input' });
    }
    expect(prepareCall(allTools, '__proto__', {})).toMatchObject({ kind: 'unknown-tool' });
  });

  it("describes a call in the words of Pawl's rules, under the canonical name", () => {
    expect(prepareCall(allTools, 'bash', { cmd: 'ls' })).toMatchObject({
      request: { tool: 'Bash', input: { command: 'ls' } },
    });
    const write = prepareCall(allTools, 'Write', { file: 'a', content: 'b' });
    expect(write).toMatchObject({ request: { tool: 'Write', title: 'Write a', input: { file_path: 'a' } } });
  });

  it('offers each tool with a schema that vendors accept', () => {
    const offered = offeredTools(allTools);
    expect(offered.map(({ name }) => name)).toEqual(
      'Read Write Edit Bash BashOutput Glob Grep Todo get_repo_info WebFetch capture_screenshot'.split(' '),
    );
    for (const { inputSchema } of offered) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(JSON.stringify(inputSchema)).not.toMatch(/prefixItems|anyOf|\$ref/);
    }
  });
});
