import type { ChildProcess } from 'node:child_process';
import { execFile, fork } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const outputBytes = 16 * 1024 * 1024;

/** A process runs this many commands itself; one that runs more is worth a helper. */
const ownCommands = 5;

type GitOptions = { cwd: string; env: NodeJS.ProcessEnv };
type Answer = { id: number; stdout: string; failure: { message: string; code: number | string } | null };

let commands = 0;
let helper: ChildProcess | null = null;
const waiting = new Map<number, PromiseWithResolvers<Answer>>();

/** Runs git and returns its output. A process of tests has hundreds of megabytes, so a small helper starts the commands. */
export async function runGit(args: readonly string[], { cwd, env }: GitOptions): Promise<string> {
  const options = { cwd, env, maxBuffer: outputBytes };
  commands += 1;
  if (commands <= ownCommands) return (await execute('git', args, options)).stdout;
  const id = commands;
  const answered = Promise.withResolvers<Answer>();
  waiting.set(id, answered);
  helper ??= startHelper();
  helper.channel?.ref();
  helper.send({ id, args, options });
  const { stdout, failure } = await answered.promise;
  if (failure !== null) throw Object.assign(new Error(failure.message), { code: failure.code, stdout });
  return stdout;
}

function startHelper(): ChildProcess {
  const started = fork(join(import.meta.dirname, 'helper.mjs'), [], {
    cwd: '/',
    env: {},
    execArgv: ['--max-semi-space-size=1'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  started.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
    // An idle helper keeps nobody from exiting.
    if (waiting.size === 0) started.channel?.unref();
  });
  started.once('exit', () => {
    helper = null;
    for (const { reject } of waiting.values()) reject(new Error('the helper that runs git has ended'));
    waiting.clear();
  });
  started.unref();
  return started;
}
