import { PawlError } from '@pawl/schema/error';
import type { Arguments } from './arguments.ts';
import type { Conversation } from './conversation.ts';
import { saveConversation, stateDirectory } from './conversation.ts';
import { defaultScenario } from './default-scenario.ts';
import { describeFailure } from './failure.ts';
import type { UserTurn } from './inbox.ts';
import { Inbox, readText } from './inbox.ts';
import { scriptedLimits } from './limit.ts';
import { Output, readerGone, report } from './output.ts';
import { Permissions } from './permissions.ts';
import type { Play } from './play.ts';
import type { Ending } from './player.ts';
import { beginTurn, playScenario, takeTurn } from './player.ts';
import type { Scenario } from './scenario.ts';
import { ToolCommands } from './tool-command.ts';
import { allowsTool } from './tool-permission.ts';
import { StreamWriter } from './stream-writer.ts';

/** Plays a conversation until it ends or a signal ends it, and returns the exit code. */
export async function runSession(options: Arguments, conversation: Conversation, directory: string): Promise<number> {
  const state = stateDirectory();
  const output = new Output();
  const writer = new StreamWriter(output, { sessionId: conversation.sessionId, model: options.model }, (tool) =>
    allowsTool(options.permission, tool),
  );
  const play: Play = {
    directory,
    conversation,
    save: () => saveConversation(state, conversation),
    writer,
    permissions: new Permissions((line) => writer.control(line)),
    echoes: options.replayUserMessages,
    inherited: new Set(conversation.uuids),
    tools: new ToolCommands(directory),
    latestPrompt: '',
    lateSignal: undefined,
    ignoresSignals: false,
    stopping: false,
  };
  const untaken = Promise.withResolvers<never>();
  const ending = await Promise.race([
    Promise.race([perform(play, options, untaken.reject), untaken.promise]).catch((error: unknown) =>
      fail(play, error),
    ),
    askedToStop(play),
    output.closed.then((): Ending => ({ code: readerGone })),
  ]);
  play.stopping = true;
  play.tools.stop();
  await Promise.race([output.flush(), output.closed, afterMs(scriptedLimits.flushMs)]);
  return 'code' in ending ? ending.code : killItself(ending.signal);
}

/** Plays the conversation. Reports a user turn that cannot be taken in to `onUntaken`. */
async function perform(play: Play, options: Arguments, onUntaken: (error: unknown) => void): Promise<Ending> {
  const scenario = await loadScenario(play.conversation);
  const nextPrompt = promptSource(play, options, onUntaken);
  const prompt = await nextPrompt();
  if (prompt === undefined) return { code: 0 };
  beginTurn(play, prompt);
  return playScenario(play, scenario, nextPrompt);
}

/** The parser of scenario files and its libraries are loaded only when there is a file. */
async function loadScenario(conversation: Conversation): Promise<Scenario> {
  if (conversation.scenario === null) return defaultScenario();
  const { readScenarioFile } = await import('./scenario-file.ts');
  return await readScenarioFile(conversation.scenario);
}

/** The source of user turns, each recorded in the conversation. A text prompt is exactly one. */
function promptSource(
  play: Play,
  options: Arguments,
  onUntaken: (error: unknown) => void,
): () => Promise<string | undefined> {
  if (options.inputFormat === 'stream-json') {
    const admit = (turn: UserTurn) => {
      try {
        return takeTurn(play, turn);
      } catch (error) {
        onUntaken(error);
        return false;
      }
    };
    const inbox = new Inbox(process.stdin, report, admit, play.permissions);
    return () => inbox.next();
  }
  let taken = false;
  return async () => {
    if (taken) return undefined;
    taken = true;
    const text = options.prompt ?? (await readText(process.stdin));
    if (text.trim() === '') {
      throw new PawlError('usage', 'There is no prompt.', { hint: 'Give one on stdin or as the last word.' });
    }
    takeTurn(play, { prompt: text, uuid: null });
    return text;
  };
}

/** Reports a failure twice: for people on stderr, for programs as the result of the turn. */
async function fail(play: Play, error: unknown): Promise<Ending> {
  const { text, code } = describeFailure(error);
  report(text);
  await play.writer.endTurn({ subtype: 'error_during_execution', isError: true, text, errors: [text] });
  return { code };
}

/** Settles when a person or program asks this process to end. */
function askedToStop(play: Play): Promise<Ending> {
  return new Promise((settle) => {
    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      process.on(signal, () => {
        if (play.ignoresSignals) report(`ignored ${signal}`);
        else settle({ code });
      });
    }
  });
}

function killItself(signal: NodeJS.Signals): Promise<never> {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The signal may arrive a moment later; nothing else may happen until then.
  setInterval(() => {}, 60_000);
  return new Promise(() => {});
}

function afterMs(durationMs: number): Promise<void> {
  return new Promise((done) => setTimeout(done, durationMs).unref());
}
