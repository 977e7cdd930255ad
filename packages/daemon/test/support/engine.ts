import type { ModelServer, ModelServerOptions } from '@pawl/testing/model-server/server';
import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import type { TestDaemon } from './daemon.ts';
import { startTestDaemon } from './daemon.ts';

export const engineModels = {
  anthropic: 'anthropic/claude-sonnet-4-5',
  openai: 'openai/gpt-5.1',
  'openai-chat': 'openai-chat/gpt-4.1',
  google: 'google/gemini-2.5-pro',
  compatible: 'compatible/scripted-1',
};

export type EngineSetup = { daemon: TestDaemon; model: ModelServer } & AsyncDisposable;

/** A daemon whose accounts of the engine call a scripted model: `plain` without `/v1` in the address, `v1` with it. */
export async function openEngineSetup(
  options: ModelServerOptions = {},
  settings: Parameters<typeof startTestDaemon>[0] = {},
): Promise<EngineSetup> {
  const model = await startModelServer(options);
  const daemon = await startTestDaemon(settings);
  const account = { provider: 'pawl', kind: 'api-key', secret: 'sk-engine-0123456789' } as const;
  await daemon.client.addAccount({ ...account, name: 'plain', baseUrl: model.url });
  await daemon.client.addAccount({ ...account, name: 'v1', baseUrl: `${model.url}/v1` });
  return {
    daemon,
    model,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

/** Waits until an agent has started others, and then until these have ended: each wait is for one of them. */
export async function childrenEnded(daemon: TestDaemon, parentId: string, count: number): Promise<void> {
  const children = async () =>
    (await daemon.client.listAgents({ all: true, limit: 1000 })).agents.filter((agent) => agent.parentId === parentId);
  await waitUntil(async () => (await children()).length >= count, { what: `${count} agents of ${parentId}` });
  for (const { id } of await children()) await daemon.ended(id);
}

/** What a request for an agent on the engine says. */
export function onEngine(vendor: keyof typeof engineModels = 'anthropic') {
  const account = vendor === 'anthropic' || vendor === 'google' ? 'plain' : 'v1';
  return { provider: 'pawl', account, model: engineModels[vendor] };
}

/** The step with which an agent reports that it is done. */
export function doneWith(result: string) {
  return { signal: { status: 'done', result } };
}
