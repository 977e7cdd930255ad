import { expect, test } from 'vitest';
import { doneWith, openEngineSetup } from '../support/engine.ts';

test('a model is tested by one call; a fault is told in words', async () => {
  await using setup = await openEngineSetup({ fallback: 'text' });
  const { daemon, model } = setup;
  const works = await daemon.client.testModel({ model: 'openai/gpt-5.1', account: 'v1' });
  expect(works).toMatchObject({ ok: true, model: 'openai/gpt-5.1', account: 'v1' });
  expect(works.text).toContain('Here is the answer.');
  expect(works.tookMs).toBeGreaterThan(0);
  expect(model.requests).toHaveLength(1);
  const account = { provider: 'pawl', kind: 'api-key', secret: 'sk-engine-1111111111' } as const;
  await daemon.client.addAccount({ ...account, name: 'refused', baseUrl: `${model.url}/s/auth` });
  const refused = await daemon.client.testModel({ model: 'anthropic/claude-sonnet-4-5', account: 'refused' });
  expect(refused).toMatchObject({ ok: false });
  expect(refused.text).toContain('401');
  expect(await daemon.client.testModel({ model: 'nobody', account: 'v1' })).toMatchObject({
    ok: false,
    text: expect.stringContaining('vendor of the model') as string,
  });
});

test('an agent uses a model by its name, with its server, context and price, or the default one', async () => {
  const steps = [doneWith('All done.'), { say: 'Done.' }];
  const models: Record<string, object> = {};
  await using setup = await openEngineSetup(
    { scenarios: { done: { steps } }, fallback: 'done' },
    { choices: { models: models as never, defaultModel: 'local' } },
  );
  const { daemon, model } = setup;
  const rest = { account: null, context_tokens: 50_000, usd_per_million: null };
  models['local'] = { ...rest, model: 'compatible/scripted-1', base_url: `${model.url}/v1` };
  const price = { input: 3, output: 15, cached: 0.3 };
  models['paid'] = {
    ...rest,
    model: 'google/gemini-2.5-pro',
    account: 'plain',
    base_url: null,
    usd_per_million: price,
  };
  // A key goes only to the server that it was added for.
  await daemon.client.useAccount('plain');
  for (const [asked, api, name, hasKey] of [
    [{}, 'chat', 'scripted-1', false],
    [{ model: 'local' }, 'chat', 'scripted-1', false],
    [{ model: 'paid' }, 'gemini', 'gemini-2.5-pro', true],
  ] as const) {
    const since = model.requests.length;
    const agent = await daemon.work(undefined, { provider: 'pawl', ...asked });
    const { run, usage } = await daemon.ended(agent.id);
    expect(run?.status).toBe('completed');
    const { inputTokens, cachedTokens, outputTokens, costUsd } = usage;
    const cost = inputTokens * price.input + cachedTokens * price.cached + outputTokens * price.output;
    // Without a price, the cost is unknown.
    expect(costUsd).toBeCloseTo(hasKey ? cost / 1e6 : 0, 9);
    expect(model.requests[since]).toMatchObject({ api, model: name });
    expect(model.requests[since]?.key !== '').toBe(hasKey);
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions[0]?.argv.join(' ')).toContain('--context-tokens 50000');
  }
});
