import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sampleOf } from '@pawl/testing/endurance';
import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import { describe, expect, it } from 'vitest';
import { textOf, userMessage } from '../../src/conversation/message.ts';
import { engineLimits } from '../../src/limit.ts';
import { vendors } from '../../src/model/model-choice.ts';
import { ModelFault } from '../../src/model/model-fault.ts';
import type { TurnEvent } from '../../src/model/model-turn.ts';
import { talk } from '../support/talk.ts';

const messages = [userMessage('Hello')];

async function faultOf(vendor: (typeof vendors)[number], scenario: string, waits: number[] = []): Promise<ModelFault> {
  await using server = await startModelServer();
  const url = `${server.url}/s/${scenario}`;
  const error: unknown = await talk({ vendor, url, messages, waits }).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelFault)) throw new Error(`no fault: ${String(error)}`);
  return error;
}

describe('runModelTurn', () => {
  for (const vendor of vendors) {
    it(`classifies the errors of ${vendor}`, async () => {
      expect(await faultOf(vendor, 'auth')).toMatchObject({ kind: 'auth' });
      expect(await faultOf(vendor, 'context')).toMatchObject({ kind: 'too-long' });
      expect(await faultOf(vendor, 'bad-request')).toMatchObject({ kind: 'refused', status: 400 });
      expect(await faultOf(vendor, 'quota')).toMatchObject({ kind: 'limit' });
      const waits: number[] = [];
      expect(await faultOf(vendor, 'server-error', waits)).toMatchObject({ kind: 'transient' });
      expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
    });

    it(`repeats a cut or malformed stream of ${vendor} from the same prompt`, async () => {
      for (const scenario of ['cut', 'malformed']) {
        const waits: number[] = [];
        expect(await faultOf(vendor, scenario, waits)).toMatchObject({ kind: 'transient' });
        expect(waits).toHaveLength(engineLimits.attempts - 1);
      }
    });
  }

  it('reports usage, with cached tokens apart', async () => {
    const steps = [{ usage: { input: 100, output: 7, cached: 40 } }, { say: 'Hi.' }];
    await using server = await startModelServer({ scenarios: { counted: { steps } }, fallback: 'counted' });
    for (const vendor of vendors) {
      const { answer } = await talk({ vendor, url: server.url, messages });
      expect(answer.usage).toEqual({ input: 60, cacheRead: 40, cacheWrite: 0, output: 7 });
    }
  });

  it('aborts a stream at once', async () => {
    await using server = await startModelServer({ fallback: 'slow' });
    const controller = new AbortController();
    const events: TurnEvent[] = [];
    const push = events.push.bind(events);
    events.push = (...items) => {
      controller.abort(new Error('stopped by a person'));
      return push(...items);
    };
    const turn = talk({ vendor: 'anthropic', url: server.url, messages, signal: controller.signal, events });
    await expect(turn).rejects.toThrow('stopped by a person');
  });

  it('waits as long as the server asks, and calls a long wait a limit', async () => {
    const replies = [{ 'retry-after': '3' }, { 'retry-after': '3600' }];
    await using server = await refusing(() => replies.shift() ?? {});
    const waits: number[] = [];
    const turn = talk({ vendor: 'compatible', url: server.url, messages, waits });
    await expect(turn).rejects.toMatchObject({ kind: 'limit', status: 429, retryAfterMs: 3_600_000 });
    expect(waits).toEqual([3_000]);
  });
});

/** A server that answers 429 with the given headers. */
async function refusing(headers: () => Record<string, string>) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(429, { 'content-type': 'application/json', ...headers() });
    response.end('{"error":{"message":"slow down"}}');
  });
  return listening(server);
}

async function listening(server: ReturnType<typeof createServer>) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a stream without an end', () => {
  const start = {
    type: 'message_start',
    message: {
      id: 'm',
      model: 'm',
      role: 'assistant',
      type: 'message',
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  };
  const endless = {
    text: [
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'x'.repeat(10_000) },
    ],
    thoughts: [
      { type: 'thinking', thinking: '' },
      { type: 'thinking_delta', thinking: 'x'.repeat(10_000) },
    ],
    'the input of a tool': [
      { type: 'tool_use', id: 't', name: 'Bash', input: {} },
      { type: 'input_json_delta', partial_json: ' '.repeat(10_000) },
    ],
  };
  for (const [what, [block, delta]] of Object.entries(endless)) {
    it(`of ${what} is cut, and calls no tool`, async () => {
      let closed = false;
      const line = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
      const flood = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(line(start) + line({ type: 'content_block_start', index: 0, content_block: block } as never));
        const more = () => {
          if (closed) return;
          if (response.write(line({ type: 'content_block_delta', index: 0, delta } as never))) setImmediate(more);
          else response.once('drain', more);
        };
        response.on('close', () => (closed = true));
        more();
      });
      await using server = await listening(flood);
      const { answer } = await talk({ vendor: 'anthropic', url: server.url, messages });
      expect(answer.finish).toBe('length');
      expect(answer.parts.filter(({ type }) => type === 'tool-call')).toEqual([]);
      expect(JSON.stringify(answer.parts).length).toBeLessThan(engineLimits.answerCharacters + 50_000);
      await waitUntil(() => closed, { what: 'the end of the connection' });
    });
  }
});

describe('a stream that is cut at any byte', () => {
  for (const vendor of vendors) {
    it(`of ${vendor} is either complete or repeated, and never half`, async () => {
      const steps = [{ say: 'I look – é.' }, { shell: 'cat "a b.txt"' }];
      await using model = await startModelServer({ scenarios: { cutting: { steps } }, fallback: 'cutting' });
      const whole = await talk({ vendor, url: model.url, messages });
      const recorded: Buffer[] = [];
      let cutAt = Infinity;
      let requests = 0;
      // Forwards to the model, and cuts the first answer after some bytes: cleanly for even numbers, else with a reset.
      const proxy = createServer((request, response) => {
        const body: Buffer[] = [];
        request.on('data', (chunk: Buffer) => body.push(chunk));
        request.on('end', () => {
          const first = requests++ === 0;
          void fetch(`${model.url}${request.url}`, { method: 'POST', body: Buffer.concat(body) }).then(
            async (reply) => {
              const bytes = Buffer.from(await reply.arrayBuffer());
              if (recorded.length === 0) recorded.push(bytes);
              response.writeHead(200, { 'content-type': 'text/event-stream' });
              if (!first || cutAt >= bytes.length) return void response.end(bytes);
              response.write(bytes.subarray(0, cutAt), () => (cutAt % 2 === 0 ? response.end() : response.destroy()));
            },
          );
        });
      });
      await using server = await listening(proxy);
      await talk({ vendor, url: server.url, messages });
      const length = recorded[0]?.length ?? 0;
      expect(length).toBeGreaterThan(300);
      for (cutAt of sampleOf([...Array(length).keys()], 20)) {
        requests = 0;
        const { answer, waits } = await talk({ vendor, url: server.url, messages });
        expect(answer.parts.map(plain)).toEqual(whole.answer.parts.map(plain));
        expect(waits.length).toBe(requests - 1);
      }
      expect(textOf({ role: 'assistant', parts: whole.answer.parts, author: '' })).toContain('I look – é.');
    });
  }
});

/** A part without ids, which some vendors choose anew. */
function plain(part: { type: string; text?: string; name?: string; input?: unknown }) {
  const { type, text, name, input } = part;
  return { type, text, name, input };
}
