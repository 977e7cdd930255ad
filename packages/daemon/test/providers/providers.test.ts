import { createCaches } from '@pawl/daemon/platform/caches';
import { checkProviders, listProviders } from '@pawl/daemon/providers/providers';
import { unconfined } from '../support/unconfined.ts';
import { withCustomPresets } from '@pawl/providers/custom';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import { providerRegistry } from '@pawl/providers/registry';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';

/** The environment of a machine that has only these programs. */
async function machine(programs: Record<string, string>, entries: Record<string, unknown> = {}, provider = 'scripted') {
  const place = await temporaryDirectory();
  for (const [name, version] of Object.entries(programs)) {
    await writeFile(join(place.path, name), `#!/bin/sh\necho ${version}\n`);
    await chmod(join(place.path, name), 0o755);
  }
  const node = process.execPath;
  const builtIn = builtInPresets({
    scriptedAgent: [node, 's'],
    bridge: [node, 'b'],
    engine: ['node', 'e'],
    engineState: '/engine',
    scriptedState: '/s',
  });
  const { presets, problems } = withCustomPresets(builtIn, entries);
  return {
    path: place.path,
    platform: {
      providers: providerRegistry(presets, problems),
      choices: { ...unconfined, provider },
      environment: { PATH: '/nowhere' },
      caches: createCaches(),
      path: place.path,
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

test('each provider is listed with its path and abilities [S3-12, S3-45]', async () => {
  await using here = await machine({ claude: '2.1.0', codex: '0.1.0' }, { bad: 1 });
  const { providers, problems } = await listProviders(here.platform);
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  expect(byName.get('claude')).toEqual({
    name: 'claude',
    description: 'Claude Code',
    program: 'claude',
    path: join(here.path, 'claude'),
    version: '2.1.0',
    install: 'npm install -g @anthropic-ai/claude-code',
    isDefault: false,
    capabilities: {
      resume: true,
      fork: 'native',
      liveFollowUps: true,
      systemPrompt: true,
      mcp: true,
      toolGate: 'hard',
      chosenSessionId: true,
      accounts: ['key', 'token', 'directory'],
      reportsCost: true,
      reportsTokens: true,
    },
    options: ['effort', 'fallback-model'],
  });
  expect(byName.get('codex-live')).toMatchObject({ path: join(here.path, 'codex'), version: '0.1.0' });
  expect(byName.get('codex')?.capabilities).toMatchObject({ toolGate: 'read-only', liveFollowUps: false });
  expect(byName.get('cline')).toMatchObject({ path: null, version: null, capabilities: { toolGate: 'read-only' } });
  expect(byName.get('scripted')).toMatchObject({ path: process.execPath, isDefault: true });
  expect(problems.map(({ name }) => name)).toEqual(['bad']);
});

test('doctor reports each installed one, and invalid entries', async () => {
  await using here = await machine({ claude: '2.1.0' }, { bad: { extends: 'nobody' } });
  const findings = await checkProviders(here.platform);
  expect(findings).toEqual([
    ...['claude', 'claude-code'].map((name) => ({
      check: 'provider',
      level: 'ok',
      message: `${name} 2.1.0 at ${join(here.path, 'claude')}`,
      fixable: false,
    })),
    expect.objectContaining({
      level: 'warning',
      message: expect.stringMatching(/^config\.yaml: providers\.bad: it extends "nobody"/) as string,
    }),
  ]);
});

test.each([
  ['codex', 'the default provider codex is not installed', /npm install -g @openai\/codex/],
  ['nobody', 'the default provider nobody does not exist', /pawl providers/],
])('doctor warns if the default provider is %s, which is missing', async (provider, message, hint) => {
  await using here = await machine({}, {}, provider);
  expect(await checkProviders(here.platform)).toEqual([
    { check: 'provider', level: 'warning', message, hint: expect.stringMatching(hint) as string, fixable: false },
  ]);
});

test('a daemon starts despite an invalid provider, and reports it', async () => {
  await using daemon = await startTestDaemon({ providers: { bad: 7, mine: { extends: 'scripted' } } });
  const { providers, problems } = await daemon.client.listProviders();
  expect(problems.map(({ name }) => name)).toEqual(['bad']);
  expect(providers.map(({ name }) => name)).toContain('mine');
  const { findings } = await daemon.client.doctor();
  expect(findings.filter(({ check }) => check === 'provider').map(({ message }) => message)).toContainEqual(
    expect.stringContaining('providers.bad'),
  );
  await expect(daemon.work([], { provider: 'bad' })).rejects.toMatchObject({ code: 'unknown_provider' });
});
