import { accountFiles } from '@pawl/daemon/accounts/account-files';
import { keyUse } from '@pawl/daemon/accounts/key-use';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import { newId } from '@pawl/schema/id';
import type { Account } from '@pawl/schema/record';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

const presets = builtInPresets({
  scriptedAgent: ['scripted'],
  bridge: ['bridge'],
  engine: ['engine'],
  engineState: '/engine',
  scriptedState: '',
});

type Shell = {
  env: Record<string, string>;
  settings?: Record<string, string>;
  files?: Record<string, string>;
  /** A link to the first of the files. */
  link?: string;
};

/** How a shell's secrets and settings are used: the server that the proxy calls, or why the session has the key. */
async function used(name: string, { env, settings = {}, files = {}, link }: Shell): Promise<string> {
  const place = await temporaryDirectory();
  onTestFinished(() => place[Symbol.asyncDispose]());
  const home = join(place.path, 'user');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  if (link !== undefined) {
    mkdirSync(dirname(join(home, link)), { recursive: true });
    symlinkSync(join(home, Object.keys(files)[0] ?? ''), join(home, link));
  }
  mkdirSync(join(place.path, 'accounts'), { mode: 0o700 });
  const kept = accountFiles(join(place.path, 'accounts'));
  const account = { id: newId(), kind: 'shell', provider: name, baseUrl: null } as Account;
  await kept.create(account.id, env, async () => {});
  const preset = presets.find((each) => each.name === name) as ProviderPreset;
  const use = await keyUse(kept, { account, preset, environment: settings, machine: { HOME: home } });
  return 'upstream' in use ? use.upstream.baseUrl : use.why;
}

const [anthropic, openai] = [{ ANTHROPIC_API_KEY: 'k' }, { OPENAI_API_KEY: 'k' }];

describe('the key of a shell', () => {
  test.each<[string, string, Shell, string]>([
    ['claude', 'to the vendor', { env: anthropic }, 'https://api.anthropic.com/'],
    [
      'claude',
      'to its base URL',
      { env: anthropic, settings: { ANTHROPIC_BASE_URL: 'http://lab:1/x' } },
      'http://lab:1/x',
    ],
    ['codex', 'to the vendor', { env: { CODEX_API_KEY: 'k' } }, 'https://api.openai.com/v1'],
    [
      'codex',
      'to the server of its config',
      {
        env: { CODEX_API_KEY: 'k' },
        files: { '.codex/config.toml': 'model = "x"\nopenai_base_url = "http://lab:1/v1"\n' },
      },
      'http://lab:1/v1',
    ],
    ['pi', 'to the vendor', { env: anthropic, files: { '.pi/agent/auth.json': '{}' } }, 'https://api.anthropic.com/'],
    [
      'pi',
      'to the server of its models.json',
      {
        env: anthropic,
        files: { '.pi/agent/models.json': '{ "providers": { "anthropic": { "baseUrl": "http://lab:1" } } }' },
      },
      'http://lab:1/',
    ],
    ['gemini', 'to the vendor', { env: { GEMINI_API_KEY: 'k' } }, 'https://generativelanguage.googleapis.com/'],
    ['opencode', 'to the vendor', { env: anthropic }, 'https://api.anthropic.com/v1'],
    ['qwen', 'to its base URL', { env: openai, settings: { OPENAI_BASE_URL: 'http://lab:1/v1' } }, 'http://lab:1/v1'],
    [
      'qwen',
      'with plain settings',
      { env: openai, files: { '.qwen/settings.json': '{"security":{"auth":{"selectedType":"openai"}}}' } },
      'https://api.openai.com/v1',
    ],
    ['gemini-acp', 'to the vendor', { env: { GEMINI_API_KEY: 'k' } }, 'https://generativelanguage.googleapis.com/'],
  ])('of %s goes through the proxy, %s', async (name, _where, shell, server) => {
    expect(await used(name, shell)).toBe(server);
  });

  test.each<[string, string, Shell, RegExp]>([
    [
      'claude',
      'with Bedrock',
      { env: anthropic, settings: { CLAUDE_CODE_USE_BEDROCK: '1' } },
      /CLAUDE_CODE_USE_BEDROCK/,
    ],
    [
      'claude',
      'with a server in its settings',
      { env: anthropic, files: { '.claude/settings.json': '{"env":{"ANTHROPIC_BASE_URL":"http://x"}}' } },
      /settings\.json may name another server or login/,
    ],
    [
      'claude',
      'with another secret',
      { env: { ...anthropic, CLAUDE_CODE_OAUTH_TOKEN: 't' } },
      /adds only ANTHROPIC_API_KEY/,
    ],
    [
      'claude',
      'with a base URL that is none',
      { env: anthropic, settings: { ANTHROPIC_BASE_URL: 'lab' } },
      /not known which server/,
    ],
    [
      'codex',
      'with a provider in its config',
      {
        env: { CODEX_API_KEY: 'k' },
        files: { '.codex/config.toml': 'openai_base_url = "http://x"\nmodel_provider = "lab"' },
      },
      /config\.toml may name another server or login/,
    ],
    [
      'codex',
      'with a server in a profile',
      { env: { CODEX_API_KEY: 'k' }, files: { '.codex/config.toml': '[profiles.lab]\nopenai_base_url = "http://x"' } },
      /config\.toml/,
    ],
    [
      'codex',
      'with a server in other quotes',
      { env: { CODEX_API_KEY: 'k' }, files: { '.codex/config.toml': "openai_base_url = 'http://x'" } },
      /config\.toml/,
    ],
    [
      'pi',
      'with two servers',
      {
        env: anthropic,
        files: {
          '.pi/agent/models.json': '{"providers":{"anthropic":{"baseUrl":"http://x"},"lab":{"baseUrl":"http://y"}}}',
        },
      },
      /models\.json/,
    ],
    ['pi', 'with extensions', { env: anthropic, files: { '.pi/agent/extensions/a.ts': '' } }, /extensions/],
    [
      'pi',
      'with a login of its own',
      { env: anthropic, files: { '.pi/agent/auth.json': '{"anthropic":{"type":"oauth"}}' } },
      /auth\.json/,
    ],
    ['codex', 'under another name', { env: openai }, /it has OPENAI_API_KEY/],
    [
      'opencode',
      'with a server in its config',
      {
        env: anthropic,
        files: { '.config/opencode/opencode.json': '{"provider":{"anthropic":{"options":{"baseURL":"http://x"}}}}' },
      },
      /opencode\.json/,
    ],
    [
      'opencode',
      'with a config elsewhere',
      { env: anthropic, settings: { OPENCODE_CONFIG: '/c.json' } },
      /OPENCODE_CONFIG/,
    ],
    [
      'qwen',
      'with a server in its settings',
      { env: openai, files: { '.qwen/settings.json': '{"security":{"auth":{"baseUrl":"http://x"}}}' } },
      /settings\.json/,
    ],
    [
      'gemini',
      'with Vertex',
      { env: { GEMINI_API_KEY: 'k' }, settings: { GOOGLE_GENAI_USE_VERTEXAI: 'true' } },
      /VERTEXAI/,
    ],
    [
      'codex',
      'with settings behind a link',
      {
        env: { CODEX_API_KEY: 'k' },
        files: { 'dotfiles/codex.toml': 'model_provider = "lab"' },
        link: '.codex/config.toml',
      },
      /config\.toml/,
    ],
    ['copilot', 'without a server of its own', { env: { COPILOT_PROVIDER_API_KEY: 'k' } }, /not known which server/],
    [
      'aider',
      'whose settings nobody examined',
      { env: openai, settings: { OPENAI_API_BASE: 'http://x' } },
      /not known which of your settings/,
    ],
  ])('of %s stays in the session %s', async (name, _what, shell, why) => {
    expect(await used(name, shell)).toMatch(why);
  });
});
