import { spawn } from 'node:child_process';
import type { Play, StepPlayer } from '../play.ts';
import { pass } from '../play.ts';
import { fillCommand } from '../placeholder.ts';

export const playShell: StepPlayer<'shell'> = async (play, template, values) => {
  const { command, environment } = fillCommand(template, values);
  await play.writer.useTool('Bash', { command }, () =>
    play.tools.run({ program: '/bin/sh', args: ['-c', command], environment }),
  );
  return undefined;
};

/** A tool call that does nothing but say what it was told to. */
export const playTool: StepPlayer<'tool'> = async (play, { name, input, result, is_error, takes }) => {
  await play.writer.useTool(name, input, async () => {
    if (takes !== undefined) await pass(play, takes);
    return { text: result, failed: is_error };
  });
  return undefined;
};

/** A tool call that asks for permission first, and says which answers it got. */
export const playPermit: StepPlayer<'permit'> = async (play, { name, input, times, bytes, cancel, owner }) => {
  const request = { tool: name, owner };
  const whole = bytes === undefined ? input : { ...input, padding: 'x'.repeat(bytes) };
  await play.writer.useTool(name, input, async () => {
    const answers = await Promise.all(
      Array.from({ length: times }, () => play.permissions.ask({ ...request, input: whole }, cancel)),
    );
    const denied = answers.filter(({ allowed }) => !allowed);
    const reasons = [...new Set(denied.map(({ reason }) => reason))].join('; ');
    const text = `${times - denied.length} allowed, ${denied.length} denied${reasons === '' ? '' : `: ${reasons}`}`;
    return { text, failed: denied.some(({ reason }) => reason !== 'withdrawn') };
  });
  return undefined;
};

export const playMail: StepPlayer<'mail'> = (play, { to, body }) => callPawl(play, ['send', '--', to, body]);

export const playAsk: StepPlayer<'ask'> = (play, { to, question }) => {
  const own = process.env['PAWL_AGENT_ID'];
  return callPawl(play, ['ask', ...(own ? ['--from', own] : []), '--agent-id', to, '--', question]);
};

export const playAnswer: StepPlayer<'answer'> = (play, { conversation, body }) =>
  callPawl(play, ['answer', '--conversation-id', conversation, '--', body]);

export const playPawl: StepPlayer<'pawl'> = (play, words) => callPawl(play, words);

/**
 * Calls the command line of Pawl. The conversation says so meanwhile, for the call may copy it. Texts of a scenario stand
 * after `--`, so that one that begins with `-` is no option.
 */
async function callPawl(play: Play, args: string[]): Promise<undefined> {
  const program = process.env['PAWL_BIN'] || 'pawl';
  await play.writer.useTool('Bash', { command: ['pawl', ...args].map(quote).join(' ') }, () => {
    play.conversation.calling = true;
    play.save();
    return play.tools.run({ program, args });
  });
  play.conversation.calling = false;
}

function quote(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Starts a process that outlives this one; detached it is not even in its process group. */
export const playForkChild: StepPlayer<'fork_child'> = async (play, { detach, seconds }) => {
  await play.writer.useTool('Bash', { command: `sleep ${seconds} &` }, () => {
    const child = spawn('sleep', [String(seconds)], { cwd: play.directory, detached: detach, stdio: 'ignore' });
    child.on('error', () => {});
    child.unref();
    return child.pid === undefined
      ? { text: 'sleep cannot be started', failed: true }
      : { text: `pid ${child.pid}`, failed: false };
  });
  return undefined;
};
