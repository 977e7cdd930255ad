import { homeAt } from '@pawl/protocol/node/home';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addModel, defaultModel, listModels, removeModel, testModel } from '../../../src/command/projects/models.ts';
import { createContext } from '../../../src/context.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

/** A home without a daemon. */
async function aHome() {
  const place = await temporaryDirectory();
  const home = homeAt(place.path);
  const printed: unknown[] = [];
  const texts: string[] = [];
  const context = {
    ...createContext({ json: true }),
    home,
    answer(_kind: string, data: unknown, words: () => string) {
      printed.push(data);
      texts.push(words());
    },
  };
  return { ...place, home, context, printed, texts, read: () => readFileSync(home.config, 'utf8') };
}

test('models are added with server, context and price, listed, and removed', async () => {
  await using place = await aHome();
  await listModels(place.context);
  expect(place.texts[0]).toContain('pawl models add');
  await addModel(place.context, 'sonnet', 'anthropic/claude-sonnet-4-5', {
    account: 'work',
    context: 200_000,
    price: '3/15/0.3',
    default: true,
  });
  await addModel(place.context, 'local', 'llama3.2', { server: 'ollama' });
  await listModels(place.context);
  expect(place.printed.at(-1)).toMatchObject({
    defaultModel: 'sonnet',
    models: [
      {
        name: 'sonnet',
        isDefault: true,
        model: 'anthropic/claude-sonnet-4-5',
        account: 'work',
        context_tokens: 200_000,
        usd_per_million: { input: 3, output: 15, cached: 0.3 },
      },
      { name: 'local', isDefault: false, model: 'compatible/llama3.2', base_url: 'http://127.0.0.1:11434/v1' },
    ],
  });
  expect(place.texts.at(-1)).toMatch(/sonnet \*.*200000.*3\/15.*work/);
  await removeModel(place.context, 'sonnet');
  await listModels(place.context);
  expect(place.printed.at(-1)).toMatchObject({ defaultModel: null, models: [{ name: 'local' }] });
});

test('a default is a name or VENDOR/MODEL', async () => {
  await using place = await aHome();
  await expect(defaultModel(place.context, 'nobody')).rejects.toMatchObject({ code: 'not_found' });
  await defaultModel(place.context, 'openai/gpt-5.1');
  expect(place.read()).toBe('default_model: openai/gpt-5.1\n');
});

test.each([
  ['an unknown server', 'x', 'm', { server: 'cloud' }, 'is unknown'],
  ['a server that needs a key', 'x', 'm', { server: 'openrouter' }, 'needs a key'],
  ['a server and an account', 'x', 'm', { server: 'ollama', account: 'work' }, 'has the address'],
  ['no price', 'x', 'm', { price: 'cheap' }, 'is no price'],
  ['a model that looks like an option', 'x', '--resume', {}, 'VENDOR/MODEL'],
  ['a context of nothing', 'x', 'm', { context: 0 }, 'context_tokens'],
  ['a name that is none', '../x', 'm', {}, 'config.yaml would be invalid'],
])('is refused, and nothing is written: %s', async (_what, name, model, options, message) => {
  await using place = await aHome();
  await expect(addModel(place.context, name, model, options)).rejects.toThrow(message);
  expect(existsSync(place.home.config)).toBe(false);
});

test('a test reports time and fault, and fails with the model', async () => {
  const answer = { model: 'openai/gpt-5.1', account: null, ok: false, text: 'Invalid API key', tookMs: 120 };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
  expect(await testModel(daemon.context, 'openai/gpt-5.1', { account: 'work' })).toBe(1);
  expect(daemon.requests.at(-1)).toBe('POST /api/models/test');
  expect(daemon.bodies.at(-1)).toMatchObject({ model: 'openai/gpt-5.1', account: 'work' });
  expect(daemon.texts.at(-1)).toContain('openai/gpt-5.1 does not work (120ms): Invalid API key');
});
