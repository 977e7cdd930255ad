import type { StreamEvent } from '@pawl/schema/stream-event';

/**
 * A provider is a coding CLI, described as data: how it is started, how the prompt goes in, how its conversation is
 * resumed and forked, and what its output looks like. A new CLI needs a preset, not code, unless its output is new.
 */
export type ProviderPreset = {
  name: string;
  description: string;
  /** The program and its fixed arguments. */
  command: [string, ...string[]];
  env: Record<string, string>;
  /** `stream-json`: user messages as JSON lines on a stdin that stays open; `text`: the prompt is stdin, then EOF. */
  promptMode: 'stream-json' | 'text';
  /** Arguments that carry a session id we choose, or null when the CLI makes its own. `{session}` is replaced. */
  chooseSession: string[] | null;
  /** Arguments that go on with an earlier conversation, or null when the CLI cannot. */
  resume: string[] | null;
  /** Arguments that branch off an earlier conversation, or null when the CLI cannot. */
  fork: string[] | null;
  /**
   * How an agent inherits a conversation: `native` branches off it with the CLI's own means, `replay` tells it to the new
   * one in words, `none` cannot.
   */
  forkStyle: 'native' | 'replay' | 'none';
  /** Arguments that limit the tools, or null when the CLI cannot enforce that. `{tools}` is replaced by a list. */
  tools: { allow: string[]; deny: string[] } | null;
  /** Arguments that name a model, or null when it cannot be chosen. `{model}` is replaced. */
  model: string[] | null;
  /** Options that a person may set, each with the arguments that carry it. `{value}` is replaced. */
  options: Record<string, string[]>;
  outputFormat: OutputFormat;
  /** Whether the usage that the CLI reports is for this process or a sum over the whole conversation. */
  usageScope: 'session' | 'conversation';
  /** The signal that lets the CLI clean up after itself. */
  firstSignal: 'SIGTERM' | 'SIGINT';
};

export type OutputFormat = 'claude-stream-json' | 'text';

/** Turns one line of output into events. It never throws: what it does not know is `unknown`, and nothing is dropped. */
export type LineParser = (line: string) => StreamEvent[];

/**
 * A format's parser, and the texts one of which stands in every line that tells a fact about the session after its first
 * line. So most of a loud agent's output need not be parsed to be stored.
 */
export type OutputParser = {
  parse: LineParser;
  telling: string[];
  /** The same for lines that are part of the conversation; empty where the output is no conversation but plain text. */
  conversation: string[];
};
