import { scriptedPreset } from '@pawl/providers/scripted';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { openStore } from '@pawl/store/store';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { repositorySettings, settingsFor } from '../../../src/definitions/trust/repository-settings.ts';
import { distrust, trustSettings } from '../../../src/definitions/trust/trusted-files.ts';
import { trustLimits } from '../../../src/definitions/trust/trust-limit.ts';

/** A project, a worktree of it, and a provider that reads settings there. */
async function aPlace({ block = ['--no-settings'] as string[] | null, trustAll = false } = {}) {
  const directory = await temporaryDirectory();
  const store = await openStore(sqliteEngine(join(directory.path, 'store.db')), { clock: () => 1 });
  const project = { id: 'project', root: join(directory.path, 'root') };
  const worktree = join(directory.path, 'work tree');
  const platform = { store, choices: { trustRepositorySettings: trustAll } };
  const preset = {
    ...scriptedPreset(['agent'], '/state'),
    name: 'cli',
    repositorySettings: { paths: ['.cli/settings.json', '.mcp.json'], block },
  };
  const write = (root: string, name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  mkdirSync(worktree);
  return {
    project,
    worktree,
    store,
    put: (name: string, text: string) => write(worktree, name, text),
    putAtRoot: (name: string, text: string) => write(project.root, name, text),
    ask: (limited = false) => settingsFor(platform, { project, worktree, preset, limited }),
    /** Trusts the current content of the worktree. */
    async trust() {
      const files = await repositorySettings(platform, project, worktree, preset);
      const judged = files.flatMap(({ path, content }) => (content === null ? [] : [{ path, sha256: content.sha256 }]));
      await store.write((tx) => trustSettings(tx, project.id, judged));
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

test('settings of a repository are blocked until exactly their content is trusted [8.43]', async () => {
  await using place = await aPlace();
  expect(await place.ask()).toEqual({ block: false, files: [] });
  place.put('.cli/settings.json', '{"hooks":1}');
  place.put('.mcp.json', '{}');
  expect(await place.ask()).toEqual({ block: true, files: ['.cli/settings.json', '.mcp.json'] });
  await place.trust();
  expect(await place.ask()).toEqual({ block: false, files: [] });
  // If the agent has changed the file, it is not trusted when the agent is resumed.
  place.put('.cli/settings.json', '{"hooks":2}');
  expect(await place.ask()).toEqual({ block: true, files: ['.cli/settings.json'] });
  // Trust is in the content: the old content is still trusted, and both may be.
  await place.trust();
  place.put('.cli/settings.json', '{"hooks":1}');
  expect(await place.ask()).toEqual({ block: false, files: [] });
  await place.store.write((tx) => distrust(tx, 'project'));
  expect((await place.ask()).block).toBe(true);
});

test('the same content under another name, or in another project, is not trusted', async () => {
  await using place = await aPlace();
  place.put('.mcp.json', '{"same":1}');
  await place.trust();
  place.put('.cli/settings.json', '{"same":1}');
  expect((await place.ask()).files).toEqual(['.cli/settings.json']);
  await place.trust();
  place.project.id = 'other';
  expect((await place.ask()).files).toEqual(['.cli/settings.json', '.mcp.json']);
});

test('an agent with limited tools always ignores settings, since it could write some while it runs [7.19]', async () => {
  await using place = await aPlace();
  expect(await place.ask(true)).toEqual({ block: true, files: [] });
  place.put('.mcp.json', '{}');
  await place.trust();
  expect(await place.ask(true)).toEqual({ block: true, files: [] });
});

test('a provider that cannot ignore them is refused, with what to do [8.43]', async () => {
  await using place = await aPlace({ block: null });
  expect(await place.ask(true)).toEqual({ block: false, files: [] });
  place.put('.mcp.json', '{"a":1}');
  place.putAtRoot('.mcp.json', '{"a":1}');
  await expect(place.ask()).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringMatching(/^cli would read .*: \.mcp\.json\.$/),
    hint: expect.stringMatching(/pawl trust \S+root$/),
    details: { files: ['.mcp.json'] },
  });
  // Content that only the worktree has is trusted there.
  place.put('.mcp.json', '{"a":2}');
  await expect(place.ask()).rejects.toMatchObject({ hint: expect.stringMatching(/pawl trust '.*work tree'$/) });
  await place.trust();
  expect(await place.ask()).toEqual({ block: false, files: [] });
});

test('a link cannot be trusted [8.43]', async () => {
  await using place = await aPlace({ block: null });
  place.putAtRoot('.mcp.json', '{}');
  symlinkSync(join(place.project.root, '.mcp.json'), join(place.worktree, '.mcp.json'));
  await place.trust();
  await expect(place.ask()).rejects.toMatchObject({
    message: expect.stringContaining('.mcp.json (is a link)'),
    hint: expect.stringContaining('replace them with plain files'),
  });
});

test('trust_repository_settings trusts all', async () => {
  await using place = await aPlace({ block: null, trustAll: true });
  place.put('.mcp.json', '{}');
  expect(await place.ask()).toEqual({ block: false, files: [] });
});

test('remembered contents are bounded, and the oldest are dropped first', async () => {
  await using place = await aPlace();
  for (let index = 0; index <= trustLimits.contentsPerFile; index += 1) {
    place.put('.mcp.json', `{"a":${index}}`);
    await place.trust();
  }
  expect((await place.ask()).block).toBe(false);
  place.put('.mcp.json', '{"a":0}');
  expect((await place.ask()).block).toBe(true);
  place.put('.mcp.json', '{"a":1}');
  expect((await place.ask()).block).toBe(false);
});
