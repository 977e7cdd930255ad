import type { StreamEvent } from '@pawl/schema/stream-event';

/**
 * A provider is a coding CLI, described as data: how it is started, how the prompt goes in, how its conversation is
 * resumed and forked, where its credentials come from, and what its output looks like. A new CLI needs a preset, not code,
 * unless its output is new. In lists of arguments, `{name}` is replaced as the comment of the field says, and a word
 * `env:NAME=value` goes into the environment instead of the command line.
 */
export type ProviderPreset = {
  name: string;
  description: string;
  /** The program and its fixed arguments. */
  command: [string, ...string[]];
  /** The program without which it does not work, where that is not the first word of the command. */
  program?: string;
  /**
   * How its processes are told from others: by the names they go by, and, where an interpreter such as node runs it, by a
   * pattern for the script. Nobody is taken for it when there are no names and no pattern.
   */
  process: { names: string[]; commandLine: string | null };
  env: Record<string, string>;
  /** Added when the daemon runs as root: some CLIs refuse to work unattended as root unless told that it is a sandbox. */
  rootEnv: Record<string, string>;
  /** Arguments that print the version, or null when the program cannot say. */
  version: string[] | null;
  /** What a person runs to get the program. */
  install: string | null;
  /**
   * Variables of a person's shell that reach its sessions. `settings` say which server or model and are kept with the
   * agent; `secrets` are kept with accounts only. Nothing else of a shell does. `ignored` name a server to programs of its
   * kind, but not to this one: work is refused where one is set, because it would go to the vendor instead.
   */
  variables: { settings: string[]; secrets: string[]; ignored?: string[] };
  /** How credentials that Pawl keeps reach it; null when it takes none. */
  account: AccountUse | null;
  /**
   * `stream-json`: user messages as JSON lines on a stdin that stays open, so that a running turn takes follow-ups; `stdin`:
   * the prompt is stdin, then EOF; `argument`: the prompt is a word of the command line, for CLIs that read no stdin.
   */
  promptMode: 'stream-json' | 'stdin' | 'argument';
  /** With `stream-json`: it repeats each line when it has taken it in, which is how we know. */
  echoes: boolean;
  /**
   * The last words of the command line: for `argument` with `{prompt}`, or with `{promptFile}` where it reads a file; for
   * `stdin` a word that asks for it, if any. `{name}` of an option is replaced by its value, without which it does not
   * start. A word `{rest}` takes the words about tools, settings and servers, which otherwise come earlier: a bridge passes
   * them on.
   */
  promptArguments: string[];
  /** Arguments that add `{file}` to the CLI's own system prompt, or null: then all of the prompt goes in as the first turn. */
  systemPrompt: string[] | null;
  /** Arguments that carry a session id we choose, or null when the CLI makes its own. `{session}` is replaced. */
  chooseSession: string[] | null;
  /** Arguments that go on with an earlier conversation, or null when the CLI cannot. `{session}` is replaced. */
  resume: string[] | null;
  /** False when it cannot resume a conversation in which the model never answered, because the first call failed. */
  resumesUnanswered?: boolean;
  /** Arguments that branch off an earlier conversation, or null when the CLI cannot. `{session}` is replaced. */
  fork: string[] | null;
  /**
   * How an agent inherits a conversation: `native` branches off it with the CLI's own means, `replay` tells it to the new
   * one in words, `none` cannot.
   */
  forkStyle: 'native' | 'replay' | 'none';
  /**
   * Arguments that limit the tools, or null when the CLI cannot enforce that. `{tools}` is replaced by a list. A CLI with
   * `names` calls tools otherwise than definitions do, and cannot limit one to a part of what it does.
   */
  tools: { allow: string[]; deny: string[]; names?: Record<string, string> } | null;
  /**
   * Arguments that let it work without asking, and those that keep it from writing; null where it cannot be kept from it.
   * Exactly one of the two is given.
   */
  access: { full: string[]; readOnly: string[] | null };
  /** Arguments that give it a settings `{file}` with a hook which asks Pawl before each tool, or null when it has no such hook. */
  hook: string[] | null;
  /** How it is told of MCP servers, or null when it takes none for one run. */
  mcp: McpFormat | null;
  /** Arguments that name a model, or null when it cannot be chosen. `{model}` is replaced. */
  model: string[] | null;
  /** Options that a person may set, each with the arguments that carry it. `{value}` is replaced. */
  options: Record<string, string[]>;
  outputFormat: OutputFormat;
  /**
   * What its errors look like in words: regular expressions, matched without regard to case. `reset` are the words right before
   * the time at which a limit ends; those that vendors use when absent. No other time that it prints is taken for one.
   */
  patterns: { limit: string[]; transient: string[]; auth: string[]; reset?: string[] };
  /**
   * After so long without output it counts as waiting for its provider; after `hangMs` it is ended and tried again. Where a
   * CLI is known to wait for the end of a limit without a word, `meansLimit` takes that silence for one.
   */
  silence: { noticeMs: number; hangMs: number; meansLimit?: boolean };
  /** The signal that lets the CLI clean up after itself. */
  firstSignal: 'SIGTERM' | 'SIGINT';
  /**
   * Files of a repository that make it run commands or talk to other servers, and the arguments that keep it from reading
   * them; null where nothing does, so that a repository with such files has to be trusted first. `allow` are those that let it
   * read them, where it asks. `{worktree}` is replaced
   * as within quotes. `hides` names files with instructions that it then does not read either.
   */
  repositorySettings: { paths: string[]; block: string[] | null; allow?: string[]; hides?: string[] };
  /** True for a stand-in that plays a script instead of asking a model; what it makes is not merged by itself. */
  scripted?: true;
  /** True when it says what a turn cost. */
  reportsCost?: boolean;
};

/** How credentials and an own directory reach a CLI. */
export type AccountUse = {
  /** The variable for an API key, the one for a long-lived token, and the one for a base URL; null where it has none. */
  key: string | null;
  token: string | null;
  baseUrl: string | null;
  /** The variable that names the directory with its settings, login and conversations; null where it cannot be moved. */
  directory: string | null;
  /**
   * True when the key of a shell gets a directory of Pawl's, too, unless the shell names one: the CLI has switches that only its
   * settings file holds, and the person's own file is never written to.
   */
  ownDirectory?: boolean;
  /** Arguments that a base URL needs besides, or instead of, its variable. `{baseUrl}` and `{key}`, the variable's name, are replaced. */
  baseUrlArguments: string[];
  /**
   * Files below that directory that have to be there before it starts, by path. `{baseUrl}`, `{key}` (the variable's name)
   * and `{model}` are replaced; a file with a placeholder that has no value is not written, and one that is there is kept.
   */
  files: Record<string, string>;
  /**
   * Where a conversation's files are below that directory, as globs with `{session}`, or `{short}` for its first eight
   * characters; empty where it cannot be moved.
   */
  conversations: string[];
  /** Below that directory: the file with its OAuth login, in Claude's shape; null when it keeps it otherwise. */
  credentials: string | null;
};

/**
 * A way to name MCP servers: Claude's `{file}`, or Copilot's, Codex's `-c` arguments, or a variable with the path of Gemini's settings or
 * with OpenCode's. `settings` are added to those. A server that needs variables of its session is given them by a CLI that
 * passes its own on; where `variables` says so, the file names them (`env_vars`), or has their values.
 */
export type McpFormat =
  | { format: 'claude' | 'copilot'; arguments: string[]; variables?: 'named' | 'written' }
  | { format: 'codex' }
  | { format: 'gemini' | 'opencode'; variable: string; settings?: Record<string, unknown> };

export type OutputFormat =
  | 'claude-stream-json'
  | 'codex-exec'
  | 'gemini-stream-json'
  | 'opencode-json'
  | 'pi-json'
  | 'copilot-json'
  | 'cline-json'
  | 'continue-json'
  | 'text';

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
