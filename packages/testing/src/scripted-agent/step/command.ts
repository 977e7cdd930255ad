import { spawn } from 'node:child_process';
import type { Play, StepPlayer } from '../play.ts';
import { fillCommand } from '../placeholder.ts';

export const playShell: StepPlayer<'shell'> = async (play, template, values) => {
  const { command, environment } = fillCommand(template, values);
  await play.voice.useTool('Bash', { command }, () =>
    play.tools.run({ program: '/bin/sh', args: ['-c', command], environment }),
  );
  return undefined;
};

/** A tool call that does nothing but say what it was told to. */
export const playTool: StepPlayer<'tool'> = async (play, { name, input, result, is_error }) => {
  await play.voice.useTool(name, input, () => ({ text: result, failed: is_error }));
  return undefined;
};

export const playMail: StepPlayer<'mail'> = (play, { to, body }) => callPawl(play, 'send', to, body);

export const playAsk: StepPlayer<'ask'> = (play, { to, question }) => callPawl(play, 'ask', to, question);

export const playAnswer: StepPlayer<'answer'> = (play, { conversation, body }) =>
  callPawl(play, 'answer', conversation, body);

/** Calls the command line of Pawl. The words stand after `--`, so that a text that begins with `-` is no option. */
async function callPawl(play: Play, ...[verb, ...words]: [string, ...string[]]): Promise<undefined> {
  const program = process.env['PAWL_BIN'] || 'pawl';
  const args = [verb, '--', ...words];
  await play.voice.useTool('Bash', { command: ['pawl', ...args].map(quote).join(' ') }, () =>
    play.tools.run({ program, args }),
  );
}

function quote(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Starts a process that outlives this one; detached it is not even in its process group. */
export const playForkChild: StepPlayer<'fork_child'> = async (play, { detach, seconds }) => {
  await play.voice.useTool('Bash', { command: `sleep ${seconds} &` }, () => {
    const child = spawn('sleep', [String(seconds)], { cwd: play.directory, detached: detach, stdio: 'ignore' });
    child.on('error', () => {});
    child.unref();
    return child.pid === undefined
      ? { text: 'sleep cannot be started', failed: true }
      : { text: `pid ${child.pid}`, failed: false };
  });
  return undefined;
};
