import type { Conversation } from './conversation.ts';
import type { PlaceholderValues } from './placeholder.ts';
import type { StepValues } from './scenario.ts';
import type { ToolCommands } from './tool-command.ts';
import type { Voice } from './voice.ts';
import type { TurnEnd } from './wire.ts';

/** What the steps of a playing scenario share. */
export type Play = {
  directory: string;
  conversation: Conversation;
  /** Stores the conversation as it is now. */
  save: () => void;
  voice: Voice;
  /** True when user turns are shown as soon as they are taken in. */
  echoes: boolean;
  /** The names of user turns that earlier processes took in. Whether their echo got out, this one cannot know. */
  inherited: Set<string>;
  tools: ToolCommands;
  latestPrompt: string;
  /** A signal that is written only after the result of the turn. */
  lateSignal: { delayMs: number; content: string } | undefined;
  /** True while a `hang` step ignores requests to end. */
  deaf: boolean;
  /** True from the moment the process is on its way out. */
  stopping: boolean;
};

/**
 * How the scenario goes on after a step. Nothing: with the next step. The position is stored first in every case, so
 * that a resumed conversation does not crash, or run into its limit, at the same step again.
 */
export type Outcome =
  | undefined
  | { after: 'turn'; result: TurnEnd }
  | { after: 'exit'; code: number; result: TurnEnd | undefined }
  | { after: 'kill'; signal: NodeJS.Signals };

/** Plays one kind of step. Its strings are filled already, except those of `shell`. */
export type StepPlayer<K extends keyof StepValues> = (
  play: Play,
  value: StepValues[K],
  values: PlaceholderValues,
) => Promise<Outcome>;

/** Lets time pass. Once the process is on its way out it never resolves, so that nothing more is said. */
export async function pass(play: Play, durationMs: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, durationMs));
  if (play.stopping) await new Promise(() => {});
}

/** A turn that ended well; it repeats the last text unless there is a better one. */
export function success(text: string): TurnEnd {
  return { subtype: 'success', isError: false, text };
}
