import { startModelServer } from '@pawl/testing/model-server/server';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { plainClient } from './plain-client.ts';

test('the engine’s turn has the same statuses, and its text comes in tokens [S2-19] [S2-20] [W2-14]', async () => {
  const said = 'The answer is in the third file.';
  const steps = [{ shell: 'true' }, { say: said }];
  await using model = await serveModel(steps);
  await using daemon = await startTestDaemon();
  const account = { provider: 'pawl', name: 'plain', kind: 'api-key', secret: 'sk-engine-0123456789' } as const;
  await daemon.client.addAccount({ ...account, baseUrl: model.url });
  const client = plainClient(daemon);
  const stream = await client.open();
  const agent = await daemon.work(undefined, {
    provider: 'pawl',
    account: 'plain',
    model: 'anthropic/claude-sonnet-4-5',
  });
  const events = await stream.until((seen) =>
    seen.some(({ type, content }) => type === 'Message' && String(content).includes(said)),
  );
  const statuses = events.filter(({ type }) => type === 'AgentStatus');
  expect(statuses).toContainEqual(expect.objectContaining({ status: 'model_loading', detail: 'Model loading' }));
  expect(statuses).toContainEqual(expect.objectContaining({ status: 'calling_tool', detail: 'Calling Bash' }));
  expect(events).toContainEqual({
    seq: expect.any(Number) as number,
    project_root: daemon.repository,
    session_id: 'default',
    type: 'ContextUsage',
    agent_id: agent.id,
    stage: 'turn',
    message_count: 2,
    char_count: expect.any(Number) as number,
    estimated_tokens: expect.any(Number) as number,
    token_limit: 200_000,
    compressed: false,
    summary_count: 0,
  });
  const tokens = events.filter(({ type }) => type === 'Token').map(({ token }) => token);
  expect(tokens.join('')).toContain(said);
});

async function serveModel(steps: ({ shell: string } | { say: string })[]) {
  const server = await startModelServer({ scenarios: { one: { steps } }, fallback: 'one' });
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() };
}
