import type { StreamEvent } from '@pawl/schema/stream-event';

/**
 * A provider is a coding CLI, described as data: how to start it, pass the prompt, resume and fork its conversation,
 * find its credentials and parse its output. A new CLI needs a preset, not code, unless its output format is new. In
 * argument lists, `{name}` is replaced as the field's comment says, and a word `env:NAME=value` goes into the
 * environment instead of the command line.
 */
export type ProviderPreset = {
  name: string;
  description: string;
  /** The program and its fixed arguments. */
  command: [string, ...string[]];
  /** The required program, if it is not the first word of the command. */
  program?: string;
  /**
   * How to recognise its processes: by name, and, for scripts under an interpreter such as node, by a command line
   * pattern. Without either, no process is recognised.
   */
  process: { names: string[]; commandLine: string | null };
  env: Record<string, string>;
  /** Added if the daemon runs as root: some CLIs refuse to run unattended as root unless told that it is a sandbox. */
  rootEnv: Record<string, string>;
  /** Arguments that print the version, or null if it cannot. */
  version: string[] | null;
  /** The command that installs it. */
  install: string | null;
  /**
   * Variables of a person's shell that reach its sessions; no others do. `settings` choose a server or model and are
   * stored with the agent; `secrets` are stored with accounts only. `ignored` point similar programs to a server, but
   * not this one: if one is set, work is refused, because it would go to the vendor instead.
   */
  variables: { settings: string[]; secrets: string[]; ignored?: string[] };
  /** Another provider whose accounts it takes, too. */
  accountsOf?: string;
  /** The hosts that it needs beside its base URL: its vendor's, for calls and logins. */
  hosts?: string[];
  /** How credentials stored by Pawl reach it; null if it takes none. */
  account: AccountUse | null;
  /**
   * `stream-json`: user messages as JSON lines on a stdin that stays open, so that a running turn takes follow-ups; `stdin`:
   * the prompt is stdin, then EOF; `argument`: the prompt is a word of the command line, for CLIs that read no stdin.
   */
  promptMode: 'stream-json' | 'stdin' | 'argument';
  /** With `stream-json`: it echoes each line once it has taken it in, which confirms delivery. */
  echoes: boolean;
  /**
   * The last words of the command line: for `argument` with `{prompt}`, or `{promptFile}` if it reads a file; for
   * `stdin` the word that selects it, if any. `{name}` of an option is replaced by its value, which is then required. A
   * word `{rest}` marks where the words about tools, settings and servers go, for a bridge to pass on; by default they
   * come earlier.
   */
  promptArguments: string[];
  /**
   * Arguments that append `{file}` to the CLI's own system prompt, or null: then the whole prompt is the first turn.
   */
  systemPrompt: string[] | null;
  /** Arguments that set a session id we choose, or null if the CLI makes its own. `{session}` is replaced. */
  chooseSession: string[] | null;
  /**
   * Arguments that hand it the conversation so far in a `{file}`, if it keeps none itself: then Pawl's own history is
   * what it remembers, and it resumes and forks any conversation.
   */
  handOver?: string[];
  /** Arguments that resume a conversation, or null if it cannot. `{session}` is replaced. */
  resume: string[] | null;
  /** False if it cannot resume a conversation without an answer, because the first call failed. */
  resumesUnanswered?: boolean;
  /** Arguments that fork a conversation, or null if it cannot. `{session}` is replaced. */
  fork: string[] | null;
  /**
   * How an agent inherits a conversation: `native` forks it by the CLI's own means, `replay` puts it into the new
   * prompt, `none` cannot.
   */
  forkStyle: 'native' | 'replay' | 'none';
  /**
   * Arguments that limit the tools, or null if the CLI cannot enforce that. `{tools}` is replaced by a list. A CLI with
   * `names` uses other tool names than definitions do, and cannot limit a tool to some arguments.
   */
  tools: { allow: string[]; deny: string[]; names?: Record<string, string> } | null;
  /**
   * Arguments for each access level, of which one is used: unattended work; asking on stdout as Claude does, and waiting
   * for the answer on stdin; no writing. Null if the CLI cannot do it. `askWith` names the provider that can ask instead.
   */
  access: { full: string[]; ask: string[] | null; askWith?: string; readOnly: string[] | null };
  /**
   * Arguments that pass a settings `{file}` with a hook that asks Pawl before each tool call, or null if it has no such
   * hook.
   */
  hook: string[] | null;
  /** How to pass MCP servers, or null if it takes none per run. */
  mcp: McpFormat | null;
  /** Arguments that choose a model, or null if it cannot be chosen. `{model}` is replaced. */
  model: string[] | null;
  /** Options that a person may set, each with its arguments. `{value}` is replaced. */
  options: Record<string, string[]>;
  outputFormat: OutputFormat;
  /**
   * Error patterns: case-insensitive regular expressions. `reset` matches the words right before the time a limit ends;
   * defaults to the vendors' usual words. No other printed time is taken for one.
   */
  patterns: { limit: string[]; transient: string[]; auth: string[]; reset?: string[] };
  /**
   * After `noticeMs` without output it counts as waiting for its provider; after `hangMs` it is ended and retried.
   * `meansLimit`: this CLI waits silently for limits to end, so its silence counts as one.
   */
  silence: { noticeMs: number; hangMs: number; meansLimit?: boolean };
  /** The signal on which the CLI cleans up after itself. */
  firstSignal: 'SIGTERM' | 'SIGINT';
  /**
   * Repository files that make it run commands or contact other servers, and the arguments that keep it from reading
   * them; null if nothing does, so such a repository must be trusted first. `allow` makes it read them, if it asks.
   * `{worktree}` is replaced as within quotes. `hides` names instruction files that it then skips, too.
   */
  repositorySettings: { paths: string[]; block: string[] | null; allow?: string[]; hides?: string[] };
  /** True for a stand-in that plays a script instead of asking a model; its work is not merged automatically. */
  scripted?: true;
  /**
   * The paths of its login and conversations below the person's home, if no variable names its directory; a sandbox
   * shows these.
   */
  homePlaces?: string[];
  /** True if it has no default model: a child takes the one of the agent that starts it. */
  needsModel?: true;
  /** True if it reports the cost of a turn. */
  reportsCost?: boolean;
};

/** How credentials and a config directory reach a CLI. */
export type AccountUse = {
  /** The variables for an API key, a long-lived token and a base URL; null if it has none. */
  key: string | null;
  token: string | null;
  baseUrl: string | null;
  /** The base URL of the server that it calls without one; without it, it calls through the proxy only with one. */
  server?: string;
  /**
   * The person's own settings that may send a shell's key to another server than the base URL: variables, and files
   * (absolute, below `~/`, or below its directory) with a pattern. Without this, a shell's key does not go through the
   * proxy, since nobody has examined where the CLI keeps such settings.
   */
  elsewhere?: { variables: string[]; files: Record<string, string> };
  /** A file of the person below its directory, and a pattern whose group is the server that it names for the key. */
  serverIn?: { file: string; pattern: string };
  /** The variable that names the directory of its settings, login and conversations; null if it cannot be moved. */
  directory: string | null;
  /**
   * True if a shell's key also gets a directory of Pawl's, unless the shell names one: some switches exist only in the
   * settings file, and Pawl never writes to the person's own.
   */
  ownDirectory?: boolean;
  /**
   * Arguments that a base URL needs besides, or instead of, its variable. `{baseUrl}`, `{key}`, the variable's name, and
   * `{file}`, the path of `baseUrlFile`, are replaced.
   */
  baseUrlArguments: string[];
  /** A file in the session's directory for these arguments; `{baseUrl}` is replaced as within quotes. */
  baseUrlFile?: { name: string; content: string };
  /**
   * Files below that directory that must exist before it starts, by path. `{baseUrl}`, `{key}` (the variable's name)
   * and `{model}` are replaced. A file with an unfilled placeholder is not written; an existing file is kept.
   */
  files: Record<string, string>;
  /**
   * A conversation's files below that directory, as globs with `{session}`, or `{short}` for its first eight
   * characters; empty if conversations cannot be moved.
   */
  conversations: string[];
  /** The file with its OAuth login below that directory, in Claude's format; null if it stores it otherwise. */
  credentials: string | null;
};

/**
 * How to pass MCP servers: Claude's, Copilot's or the engine's `{file}`, Codex's `-c` arguments, or a variable with the path of
 * Gemini's settings or with OpenCode's settings. `settings` are merged into those. Usually the CLI passes its
 * environment on to servers; otherwise `variables` says whether the file names the session's variables (`env_vars`) or
 * has their values.
 */
export type McpFormat =
  | { format: 'claude' | 'copilot' | 'pawl'; arguments: string[]; variables?: 'named' | 'written' }
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

/**
 * Parses one line of output into events. Never throws: unrecognised output becomes `unknown`, and nothing is dropped.
 */
export type LineParser = (line: string) => StreamEvent[];

/**
 * A format's parser, and the strings of which one occurs in every line, after the first, that changes facts about the
 * session. So most output of a verbose agent can be stored unparsed.
 */
export type OutputParser = {
  parse: LineParser;
  telling: string[];
  /** The same for lines that belong to the conversation; empty if the output is plain text. */
  conversation: string[];
};
