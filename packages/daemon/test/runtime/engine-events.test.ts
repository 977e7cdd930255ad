import { startModelServer } from '@pawl/testing/model-server/server';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { plainClient } from './plain-client.ts';

test('the engine’s turn has the same statuses, and its text comes in tokens [S2-19] [S2-20]', async () => {
  const said = 'The answer is in the third file.';
  const steps = [{ shell: 'true' }, { say: said }];
  await using model = await serveModel(steps);
  await using daemon = await startTestDaemon();
  const account = { provider: 'pawl', name: 'plain', kind: 'api-key', secret: 'sk-engine-0123456789' } as const;
  await daemon.client.addAccount({ ...account, baseUrl: model.url });
  const client = plainClient(daemon);
  const stream = await client.open();
  await daemon.work(undefined, { provider: 'pawl', account: 'plain', model: 'anthropic/claude-sonnet-4-5' });
  const events = await stream.until((seen) =>
    seen.some(({ type, content }) => type === 'Message' && String(content).includes(said)),
  );
  const statuses = events.filter(({ type }) => type === 'AgentStatus');
  expect(statuses).toContainEqual(expect.objectContaining({ status: 'model_loading', detail: 'Model loading' }));
  expect(statuses).toContainEqual(expect.objectContaining({ status: 'calling_tool', detail: 'Calling Bash' }));
  const tokens = events.filter(({ type }) => type === 'Token').map(({ token }) => token);
  expect(tokens.join('')).toContain(said);
});

async function serveModel(steps: ({ shell: string } | { say: string })[]) {
  const server = await startModelServer({ scenarios: { one: { steps } }, fallback: 'one' });
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() };
}
