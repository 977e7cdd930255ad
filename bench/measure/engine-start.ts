import { startModelServer } from '@pawl/testing/model-server/server';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { userTurnLine } from '@pawl/wire/claude-input';
import { spawn } from 'node:child_process';
import type { Measure } from '../measure.ts';
import { programPaths } from '../program.ts';
import { alternate, median } from '../statistics.ts';

/** A program that only asks the model and prints the stream. */
const rawFetch = `
const body = JSON.stringify({ model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hello' }] });
const headers = { 'x-api-key': 'sk-bench', 'content-type': 'application/json' };
const answer = await fetch(process.env.PAWL_ENGINE_BASE_URL + '/v1/messages', { method: 'POST', headers, body });
for await (const chunk of answer.body) process.stdout.write(chunk);`;

/** Cold start of the engine to the first text of a model and to its first tool, against a bare fetch in its own process. */
export const engineStart: Measure = {
  name: 'engine-start',
  async run({ quick }) {
    await using place = await temporaryDirectory('pawl-bench');
    const steps = [{ shell: 'true' }, { say: 'Done.' }];
    await using model = await startModelServer({ scenarios: { tool: { steps } }, fallback: 'text' });
    const env = {
      ...process.env,
      PAWL_ENGINE_HOME: place.path,
      PAWL_ENGINE_API_KEY: 'sk-bench',
      PAWL_ENGINE_BASE_URL: model.url,
    };
    const { engine: program, engineFlags } = programPaths;
    const words = ['--include-partial-messages', '--model', 'anthropic/claude-sonnet-4-5'];
    const engine = [...engineFlags, program, ...words];
    const raw = ['--input-type=module', '--eval', rawFetch];
    const rounds = quick ? 5 : 15;
    const text = await alternate(rounds, {
      ours: () => firstMs(engine, env, 'text_delta'),
      floor: () => firstMs(raw, env, 'text_delta'),
    });
    const toolEnv = { ...env, PAWL_ENGINE_BASE_URL: `${model.url}/s/tool` };
    const tool = await alternate(rounds, {
      ours: () => firstMs(engine, toolEnv, '"tool_result"'),
      floor: () => firstMs(raw, env, 'text_delta'),
    });
    const aims = [{ of: 'ratio' as const, atMost: 1.6 }];
    return [
      { measure: 'engine: cold start to first text', ...figures(text), aims },
      { measure: 'engine: cold start to the result of the first tool', ...figures(tool) },
    ];
  },
};

function figures({ ours, floor }: { ours: number[]; floor: number[] }) {
  return { value: median(ours), unit: 'ms', floor: median(floor) };
}

/** Runs a program, and returns the time until it prints these words. */
async function firstMs(words: string[], env: NodeJS.ProcessEnv, sign: string): Promise<number> {
  const beganMs = performance.now();
  const child = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin.end(userTurnLine('Hello'));
  let text = '';
  let tookMs = Number.NaN;
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (Number.isNaN(tookMs) && text.includes(sign)) tookMs = performance.now() - beganMs;
  }
  await ended;
  return tookMs;
}
