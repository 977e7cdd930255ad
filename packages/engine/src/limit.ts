/** Bounds of the engine. Units come last in names. */
export const engineLimits = {
  /** Text and tool input of one answer; an endless one is cut there. */
  answerCharacters: 500_000,
  /** A message as JSON: longer ones are cut, because Pawl reads lines of at most 1 MiB. */
  messageBytes: 800 * 1024,
  /** How long a stream may be silent before the call counts as failed. */
  silenceMs: 5 * 60_000,
  /** Calls of a model for one answer, the first included. */
  attempts: 5,
  /** The first wait before a repeated call; each further one doubles it. */
  backoffMs: 500,
  /** The longest wait before a repeated call. If a server asks for more, it is a usage limit. */
  longestWaitMs: 60_000,
  /** How much of a vendor's error is kept. */
  errorCharacters: 2_000,
  /** How much of a file Read shows unless it is asked for more, and the most that it shows. */
  readBytes: 64 * 1024,
  readMostBytes: 512 * 1024,
  /** The largest file that Edit and Write take. */
  fileBytes: 16 * 1024 * 1024,
  /** The largest image that Read shows: a message has it as base64. */
  imageBytes: 576 * 1024,
  /** Results of Glob and Grep unless more are asked for, and the most that they list. */
  searchResults: 200,
  searchMostResults: 2_000,
  /** How much of a matching line Grep shows. */
  matchCharacters: 500,
  /** How long a search or a question to git may take. */
  searchMs: 30_000,
  searchOutputBytes: 32 * 1024 * 1024,
  /** Timeout of a command unless another is asked for, and the longest. */
  commandMs: 30_000,
  commandMostMs: 10 * 60_000,
  /** How much of a command's output its result shows; the rest is in a file. */
  outputCharacters: 30_000,
  /** How much output of one command is kept in its file. */
  outputFileBytes: 32 * 1024 * 1024,
  /** Commands in the background at once. */
  backgroundCommands: 16,
  /** How long output is read after a command has ended while a child keeps the pipe open. */
  pipeDrainMs: 200,
  /** How long a command may clean up before it is killed. */
  graceMs: 500,
  /** Tool calls of one answer that run; further ones are refused. */
  callsOfAnswer: 50,
  /** Model calls of one turn. */
  iterations: 100,
  /** Limits on repetition: equal answers, equal calls, searches without a result, and invalid inputs in a row. */
  identicalAnswers: 3,
  redundantCalls: 3,
  emptySearches: 4,
  invalidInputs: 4,
  /** The context of a model if nothing else is known, and the share that may be full before it is summarised. */
  contextTokens: 200_000,
  contextShare: 0.8,
  /** How much of each tool result a summary is made from. */
  summarisedCharacters: 2_000,
  /** The largest conversation file. */
  conversationBytes: 256 * 1024 * 1024,
  /** The longest line on stdin. */
  inputBytes: 8 * 1024 * 1024,
  /** Inputs that wait; stdin is not read further beyond this. */
  queuedInputs: 1_000,
  /** How long the exit waits for a reader that has stopped reading. */
  flushMs: 1_000,
  /** How long fetching a page may take, how much of it is read, and how many redirects are followed. */
  fetchMs: 30_000,
  fetchBytes: 4 * 1024 * 1024,
  redirects: 5,
  /** Skills in the prompt, and the largest one. */
  skills: 100,
  skillBytes: 256 * 1024,
  /** How long an MCP server may take to start and list its tools, and how many tools and pages it may list. */
  serverStartMs: 20_000,
  serverTools: 200,
  serverPages: 20,
  /** The longest line or answer of an MCP server, and how long one of its tools may run. */
  serverMessageBytes: 8 * 1024 * 1024,
  serverCallMs: 10 * 60_000,
  /** How often a server that has died is started again in one session. */
  serverRestarts: 3,
  /** How much of a description of a foreign tool is shown to the model, and how much of its result. */
  descriptionCharacters: 4_000,
  resultCharacters: 100_000,
  /** The largest file with MCP servers. */
  configBytes: 1024 * 1024,
  /** How long a missing daemon is waited for, as during a restart, and how often it is tried. */
  doorPatienceMs: 15_000,
  doorRetryMs: 100,
  /** How long one question for the result of a subagent waits; it is asked again until there is one. */
  resultWaitSeconds: 30,
  todoItems: 100,
  todoCharacters: 500,
} as const;
