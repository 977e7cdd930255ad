import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { CommandEnd, RunningCommand } from './running-command.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';
import { done, failed } from './tool.ts';

const input = z.strictObject({
  command: z.string().min(1).max(100_000).describe('Run by bash in the root of the workspace. It cannot read input.'),
  timeout_ms: z.number().int().min(1).max(engineLimits.commandMostMs).optional().describe('Default 30000.'),
  run_in_background: z.boolean().optional().describe('Goes on while you work; ask for its output with BashOutput.'),
});

export const bash: Tool<z.infer<typeof input>> = {
  name: 'Bash',
  description: 'Runs a command. Long output is cut and kept in a file.',
  input,
  describe: ({ command }) => ({ title: `Run ${command}`, input: { command } }),
  async run({ command, timeout_ms: timeoutMs = engineLimits.commandMs, run_in_background: background }, context) {
    if (background === true) {
      const id = context.commands.startInBackground(command);
      return done(`Started in the background as ${id}. Ask for its output with BashOutput.`);
    }
    const running = context.commands.start(command);
    const end = await endWithin(running, timeoutMs, context.signal);
    if (end === 'timeout') {
      const hint = 'Set timeout_ms, or run_in_background for a long command.';
      return failed(`${running.output()}\n[ended after ${timeoutMs} ms. ${hint}]`.trimStart());
    }
    return outcomeOf(running.output(), end);
  },
};

const pollInput = z.strictObject({
  id: z.string().min(1).max(100).describe('The id that Bash returned.'),
  wait_ms: z.number().int().min(0).max(engineLimits.commandMostMs).optional().describe('Waits so long for the end.'),
  stop: z.boolean().optional().describe('Ends the command.'),
});

export const bashOutput: Tool<z.infer<typeof pollInput>> = {
  name: 'BashOutput',
  description: 'Shows the output of a background command since the last call, and whether it has ended.',
  input: pollInput,
  describe: ({ id, stop }) => ({ title: `${stop === true ? 'Stop' : 'Poll'} ${id}`, input: { id } }),
  async run({ id, wait_ms: waitMs = 0, stop = false }, { commands, signal }) {
    const running = commands.find(id);
    if (running === undefined) return failed(`There is no background command ${id} in this session.`);
    if (stop) await running.stop();
    else if (waitMs > 0) await raceEnd(running, waitMs, signal);
    const text = running.poll();
    if (running.end === null) return done(`${text}\n[still running]`.trimStart());
    return outcomeOf(text, running.end);
  },
};

function outcomeOf(output: string, { code, signal, problem }: CommandEnd): ToolOutcome {
  if (problem !== null) return failed(`The command could not be started: ${problem}`);
  if (code === 0) return done(output === '' ? '(no output)' : output);
  const how = code === null ? `ended by ${signal}` : `exit code ${code}`;
  return failed(`${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${how}]`);
}

/** Ends the command if it takes too long, or if the turn is stopped. */
async function endWithin(
  running: RunningCommand,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CommandEnd | 'timeout'> {
  const end = await raceEnd(running, timeoutMs, signal);
  if (end !== null) return end;
  await running.stop();
  signal.throwIfAborted();
  return 'timeout';
}

/** The end of a command, or null if the time is over or the turn was stopped before. */
async function raceEnd(running: RunningCommand, ms: number, signal: ToolContext['signal']): Promise<CommandEnd | null> {
  const over = Promise.withResolvers<null>();
  const finish = () => over.resolve(null);
  const timer = setTimeout(finish, ms);
  signal.addEventListener('abort', finish, { once: true });
  if (signal.aborted) finish();
  try {
    return await Promise.race([running.ended, over.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', finish);
  }
}
