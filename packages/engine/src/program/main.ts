import { randomUUID } from 'node:crypto';
import { realpathSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes, hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { openConversation } from '../conversation/open-conversation.ts';
import { engineLimits } from '../limit.ts';
import { parseModel } from '../model/model-choice.ts';
import { Approvals } from './approvals.ts';
import type { Arguments } from './arguments.ts';
import { parseArguments, usageText } from './arguments.ts';
import { Inbox } from './inbox.ts';
import { Session, stateDirectory } from './session.ts';
import { Toolbox } from './toolbox.ts';
import { Voice } from './voice.ts';

/** Exit code when the reader of stdout has gone, like SIGPIPE. */
const readerGone = 141;

/** Runs the engine and returns its exit code; the caller must exit with it, because stdin may still be open. */
export async function main(argv: string[]): Promise<number> {
  try {
    const options = parseArguments(argv);
    if (options !== null) return await run(options);
    process.stdout.write(usageText);
    return 0;
  } catch (error) {
    report(messageOf(error));
    if (!(error instanceof PawlError)) throw error;
    if (error.hint !== undefined) report(error.hint);
    return errorCodes[error.code].exit;
  }
}

async function run(options: Arguments): Promise<number> {
  const choice = parseModel(options.model ?? process.env['PAWL_ENGINE_MODEL'] ?? '');
  const { sessionId = randomUUID(), partialMessages, access, price } = options;
  // The agent is the same in its next session, and so is the start of its prompt.
  const conversation = openConversation(options.conversation, process.env['PAWL_AGENT_ID'] ?? sessionId);
  const speaker = { sessionId, model: choice.model, partialMessages, price, now: () => performance.now() };
  const voice = new Voice(speaker, writeLine);
  const approvals = new Approvals((line) => writeLine({ ...line, session_id: sessionId }));
  const outputDirectory = join(stateDirectory(process.env), 'output', sessionId);
  const root = realpathSync(process.cwd());
  const toolbox = new Toolbox(options, { root, env: process.env, outputDirectory, approvals, report });
  voice.init(process.cwd(), toolbox.ownNames, access);
  const inbox = new Inbox(process.stdin, {
    onControl: ({ requestId, subtype }) => {
      const known = subtype === 'interrupt' || subtype === 'initialize';
      voice.controlResponse(requestId, known ? null : `Unknown control request ${subtype}.`);
      if (subtype === 'interrupt') session.interrupt();
    },
    onAnswer: ({ requestId, allowed, reason }) =>
      approvals.answer(requestId, allowed ? { allow: true } : { allow: false, reason: reason || 'Denied.' }),
    onEnd: () => approvals.close(),
    report,
  });
  const session = new Session({ options, choice, conversation, inbox, voice, toolbox });
  const gone = new Promise<number>((resolve) => process.stdout.on('error', () => resolve(readerGone)));
  const code = await Promise.race([session.run(), askedToStop(), gone]);
  await session.close();
  await Promise.race([flush(), gone, new Promise((resolve) => setTimeout(resolve, engineLimits.flushMs).unref())]);
  return code;
}

/** Settles when a person or program asks this process to end. */
function askedToStop(): Promise<number> {
  return new Promise((settle) => {
    process.on('SIGTERM', () => settle(143));
    process.on('SIGINT', () => settle(130));
  });
}

/** Writes a line at once, so that a kill cannot lose it; if the pipe is full, the stream waits for it. */
function writeLine(line: object): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  if (process.stdout.writableLength > 0) return void process.stdout.write(bytes);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(1, bytes, written);
  } catch (error) {
    if (hasErrno(error, 'EAGAIN', 'EPIPE')) process.stdout.write(bytes.subarray(written));
    else throw error;
  }
}

function flush(): Promise<void> {
  return new Promise((resolve) => process.stdout.write('', () => resolve()));
}

function report(message: string): void {
  process.stderr.write(`pawl-engine: ${message}\n`);
}
