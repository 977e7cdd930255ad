import type { Answer } from '../../src/conversation/answer-assembly.ts';
import type { Message } from '../../src/conversation/message.ts';
import { modelPrompt } from '../../src/conversation/model-prompt.ts';
import type { ModelChoice, Vendor } from '../../src/model/model-choice.ts';
import { authorOf } from '../../src/model/model-choice.ts';
import type { TurnEvent } from '../../src/model/model-turn.ts';
import { runModelTurn } from '../../src/model/model-turn.ts';
import { openVendorModel } from '../../src/model/vendor-model.ts';

const models: Record<Vendor, string> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5.1',
  'openai-chat': 'gpt-4.1',
  google: 'gemini-2.5-pro',
  compatible: 'scripted-1',
};

export function choiceOf(vendor: Vendor): ModelChoice {
  return { vendor, model: models[vendor] };
}

/** The address of a vendor's API on a server, as its settings write it. */
function addressOf(vendor: Vendor, url: string): string {
  return vendor === 'anthropic' || vendor === 'google' ? url : `${url}/v1`;
}

export type Talk = { answer: Answer; bodies: string[]; events: TurnEvent[]; waits: number[] };

export type TalkSettings = {
  vendor: Vendor;
  url: string;
  messages: Message[];
  apiKey?: string;
  signal?: AbortSignal;
  events?: TurnEvent[];
  waits?: number[];
};

/** Asks a model once, and records the bodies of the requests. Waits take no time. */
export async function talk(settings: TalkSettings): Promise<Talk> {
  const { vendor, url, messages, apiKey = 'sk-test', signal = new AbortController().signal } = settings;
  const choice = choiceOf(vendor);
  const bodies: string[] = [];
  const recording: typeof fetch = (target, init) => {
    bodies.push(typeof init?.body === 'string' ? init.body : '');
    return fetch(target, init);
  };
  const model = await openVendorModel(choice, { apiKey, baseUrl: addressOf(vendor, url) }, recording);
  const { events = [], waits = [] } = settings;
  const answer = await runModelTurn({
    model,
    prompt: modelPrompt('You are a test.', messages, { author: authorOf(choice), takesImages: true }),
    tools: [
      {
        type: 'function',
        name: 'Bash',
        description: 'Runs a command.',
        inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
      },
    ],
    cacheKey: 'agent-1',
    oneCall: true,
    signal,
    onEvent: (event) => events.push(event),
    sleep: (ms) => Promise.resolve(void waits.push(ms)),
    random: () => 0,
  });
  return { answer, bodies, events, waits };
}
