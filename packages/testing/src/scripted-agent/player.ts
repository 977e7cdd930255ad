import { setImmediate } from 'node:timers/promises';
import { addTurn } from './conversation.ts';
import type { UserTurn } from './inbox.ts';
import type { Outcome, Play, StepPlayer } from './play.ts';
import { success } from './play.ts';
import { fill, placeholderValues } from './placeholder.ts';
import type { Scenario, Step, StepValues } from './scenario.ts';
import {
  playAnswer,
  playAsk,
  playForkChild,
  playMail,
  playPawl,
  playPermit,
  playShell,
  playTool,
} from './step/command.ts';
import { playCommit } from './step/commit.ts';
import { playComplete, playCrash, playFail, playHang, playLimit, playWait } from './step/ending.ts';
import { playAppend, playWrite } from './step/file.ts';
import { playFlood, playGarbage } from './step/noise.ts';
import { playSignal } from './step/signal.ts';
import {
  playEchoPrompt,
  playInbox,
  playPrintEnv,
  playReadInputs,
  playRecall,
  playSay,
  playSleep,
  playStream,
  playThink,
  playUsage,
} from './step/speech.ts';
import { replaceWorkspaceFile, signalPath } from './workspace-file.ts';

const stepPlayers: { [K in keyof StepValues]: StepPlayer<K> } = {
  say: playSay,
  think: playThink,
  write: playWrite,
  append: playAppend,
  shell: playShell,
  commit: playCommit,
  sleep: playSleep,
  tool: playTool,
  permit: playPermit,
  mail: playMail,
  ask: playAsk,
  answer: playAnswer,
  pawl: playPawl,
  wait: playWait,
  complete: playComplete,
  signal: playSignal,
  crash: playCrash,
  hang: playHang,
  flood: playFlood,
  garbage: playGarbage,
  limit: playLimit,
  fail: playFail,
  fork_child: playForkChild,
  usage: playUsage,
  stream: playStream,
  echo_prompt: playEchoPrompt,
  read_inputs: playReadInputs,
  recall: playRecall,
  inbox: playInbox,
  print_env: playPrintEnv,
};

/** How a process ends: with an exit code, or by a signal to itself. */
export type Ending = { code: number } | { signal: NodeJS.Signals };

/**
 * Plays the scenario from the conversation's position. Order matters: a step's effects, then the stored position, then
 * the turn's result. A kill in between repeats a step and never skips one.
 */
export async function playScenario(
  play: Play,
  scenario: Scenario,
  nextPrompt: () => Promise<string | undefined>,
): Promise<Ending> {
  for (;;) {
    // Otherwise steps without waits would block user turns and stop requests.
    await setImmediate();
    // A requested stop is already flushing: start no further step.
    if (play.stopping) return new Promise(() => {});
    const step = scenario.steps[play.conversation.next];
    const outcome = step === undefined ? endOfScenario(play) : await playStep(play, step);
    if (step !== undefined) play.conversation.next += 1;
    play.save();
    if (outcome === undefined) continue;
    if (outcome.after === 'kill') return { signal: outcome.signal };
    if (outcome.result !== undefined) await play.writer.endTurn(outcome.result);
    await writeLateSignal(play);
    if (outcome.after === 'exit') return { code: outcome.code };
    const prompt = await nextPrompt();
    if (prompt === undefined) return { code: 0 };
    beginTurn(play, prompt);
  }
}

/**
 * Takes a user turn in as soon as it arrives, and stores it before echoing it. Drops a repeated one, but echoes it if
 * the process that took it in may have died before its echo. Returns whether it is new.
 */
export function takeTurn(play: Play, { prompt, uuid }: UserTurn): boolean {
  const isNew = addTurn(play.conversation, prompt, uuid);
  if (isNew) play.save();
  const isUnshown = isNew || (uuid !== null && play.inherited.delete(uuid));
  if (play.echoes && isUnshown) play.writer.echo(prompt, uuid);
  return isNew;
}

/** Starts a turn with a prompt that was taken in. */
export function beginTurn(play: Play, prompt: string): void {
  play.latestPrompt = prompt;
  play.writer.beginTurn(play.conversation.turnsSeen, prompt);
}

function endOfScenario(play: Play): Outcome {
  return { after: 'exit', code: 0, result: success(play.writer.lastText || 'The scenario has no more steps.') };
}

function playStep<K extends keyof StepValues>(play: Play, step: Step & { kind: K }): Promise<Outcome> {
  const values = placeholderValues(play.conversation, play.latestPrompt, step.n);
  const value = step.value as StepValues[K];
  const player: StepPlayer<K> = stepPlayers[step.kind];
  return player(play, step.kind === 'shell' ? value : fill(value, values), values);
}

async function writeLateSignal(play: Play): Promise<void> {
  const late = play.lateSignal;
  if (late === undefined) return;
  play.lateSignal = undefined;
  await play.writer.output.flush();
  await new Promise((resolve) => setTimeout(resolve, late.delayMs));
  replaceWorkspaceFile(play.directory, signalPath, late.content);
}
