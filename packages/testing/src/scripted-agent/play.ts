import type { Conversation } from './conversation.ts';
import type { Permissions } from './permissions.ts';
import type { PlaceholderValues } from './placeholder.ts';
import type { StepValues } from './scenario.ts';
import type { ToolCommands } from './tool-command.ts';
import type { StreamWriter } from './stream-writer.ts';
import type { TurnEnd } from '@pawl/wire/claude-line';

/** Shared by the steps of a playing scenario. */
export type Play = {
  directory: string;
  conversation: Conversation;
  /** Stores the current conversation. */
  save: () => void;
  writer: StreamWriter;
  /** True if user turns are echoed once taken in. */
  echoes: boolean;
  /** The ids of user turns that earlier processes took in, possibly without an echo. */
  inherited: Set<string>;
  tools: ToolCommands;
  permissions: Permissions;
  latestPrompt: string;
  /** A signal to write only after the turn's result. */
  lateSignal: { delayMs: number; content: string } | undefined;
  /** True while a `hang` step ignores stop requests. */
  ignoresSignals: boolean;
  /** True while the process is exiting. */
  stopping: boolean;
};

/**
 * How the scenario continues after a step; by default with the next one. The position is always stored first, so that a
 * resumed conversation does not crash or hit its limit at the same step again.
 */
export type Outcome =
  | undefined
  | { after: 'turn'; result: TurnEnd }
  | { after: 'exit'; code: number; result: TurnEnd | undefined }
  | { after: 'kill'; signal: NodeJS.Signals };

/** Plays one kind of step. Its strings are already filled, except those of `shell`. */
export type StepPlayer<K extends keyof StepValues> = (
  play: Play,
  value: StepValues[K],
  values: PlaceholderValues,
) => Promise<Outcome>;

/** Waits. Never resolves while the process is exiting, so that nothing more is printed. */
export async function pass(play: Play, durationMs: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, durationMs));
  if (play.stopping) await new Promise(() => {});
}

/** A successful turn; repeats the last text by default. */
export function success(text: string): TurnEnd {
  return { subtype: 'success', isError: false, text };
}
