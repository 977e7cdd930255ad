import { printableLine } from '@pawl/present/text';
import { PawlError } from '@pawl/schema/error';
import { setTimeout as wait } from 'node:timers/promises';
import { commandClient } from '../../daemon/client.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { Terminal } from '../../terminal/screen.ts';
import { openScreen } from '../../terminal/screen.ts';
import { cut } from '../../terminal/palette.ts';
import type { Sample } from '../../view/top-frame.ts';
import { topFrame } from '../../view/top-frame.ts';

export type TopOptions = { times?: number; interval: number };
/** The screen, and a way to quit although a request is pending. */
export type TopPlace = Terminal & { exit(code: number): void };

const here: TopPlace = {
  get input() {
    return process.stdin;
  },
  output: process.stdout,
  exit: (code) => process.exit(code),
};
const interrupt = '\u0003';
const interruptedExit = 130;

/** Shows running agents and their resource use, continuously on a terminal, once elsewhere. */
export async function top(context: CommandContext, options: TopOptions, place: TopPlace = here): Promise<number> {
  const isLive = (place.output.isTTY ?? false) && !context.json && !context.quiet && process.env['TERM'] !== 'dumb';
  return isLive ? watch(context, options, place) : print(context, options);
}

/** The first request starts the daemon if needed; the following ones only read. */
async function ask(context: CommandContext, isFirst: boolean): Promise<Sample> {
  const answer = isFirst
    ? await withDaemon(context.home, (client) => client.top())
    : await commandClient(context.home).top();
  return { top: answer, atMs: performance.now() };
}

async function print(context: CommandContext, { times = 1, interval }: TopOptions): Promise<number> {
  const { columns, colours } = context;
  for (let previous: Sample | null = null, shown = 0; shown < times; shown++) {
    if (shown > 0) await wait(interval * 1000);
    const sample = await ask(context, shown === 0);
    const before = previous;
    context.record('top', sample.top, () => {
      const frame = topFrame(before, sample, { columns, colours, now: Date.now() }).join('\n');
      return shown === 0 ? frame : `\n${frame}`;
    });
    previous = sample;
  }
  return 0;
}

async function watch(context: CommandContext, { times, interval }: TopOptions, place: TopPlace): Promise<number> {
  let previous: Sample | null = null;
  let latest = await ask(context, true);
  let trouble: string | null = null;
  let code = 0;
  let isAsking = false;
  const leaving = new AbortController();
  const draw = () => {
    const { columns, rows } = screen.size();
    const lines = topFrame(previous, latest, { columns, rows, colours: context.colours, now: Date.now() });
    // Errors go on the empty line between header and rows.
    screen.draw(trouble === null ? lines : lines.with(Math.min(3, lines.length - 1), cut(trouble, columns)));
  };
  const screen = openScreen(place, {
    key: (key) => {
      if (key === interrupt) code = interruptedExit;
      if (key === interrupt || key === 'q') leaving.abort();
    },
    resize: () => draw(),
  });
  try {
    for (let shown = 1; ; shown++) {
      draw();
      if (shown === times) return 0;
      await wait(interval * 1000, undefined, { signal: leaving.signal });
      isAsking = true;
      const heard = await unlessLeft(ask(context, false).catch(unreachable), leaving.signal);
      isAsking = false;
      if ('top' in heard) [previous, latest, trouble] = [latest, heard, null];
      else trouble = context.colours.red(printableLine(heard.message));
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    screen.close();
    // A stuck daemon must not keep the person from quitting.
    if (isAsking) place.exit(code);
    return code;
  } finally {
    screen.close();
  }
}

/** Resolves with the answer, or rejects when the person quits. */
function unlessLeft<T>(answer: Promise<T>, leaving: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const left = () => reject(new Error('left'));
    leaving.addEventListener('abort', left, { once: true });
    answer.then(resolve, reject).finally(() => leaving.removeEventListener('abort', left));
  });
}

/** Keeps running while the daemon is down: it may come back. */
function unreachable(error: unknown): PawlError {
  if (error instanceof PawlError && ['daemon_unreachable', 'timeout'].includes(error.code)) return error;
  throw error;
}
