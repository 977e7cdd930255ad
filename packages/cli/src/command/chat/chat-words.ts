/** A typed line: a message or a command. */
export type ChatWords =
  | { kind: 'nothing' }
  | { kind: 'help' | 'agents' | 'clear' | 'cancel' | 'quit' }
  | { kind: 'say'; text: string }
  | { kind: 'unknown'; command: string };

const commands = {
  help: 'help',
  '?': 'help',
  agents: 'agents',
  clear: 'clear',
  cancel: 'cancel',
  stop: 'cancel',
  quit: 'quit',
  exit: 'quit',
  q: 'quit',
} as const;

export const helpText = `/help            this list
/mode chat|auto  how the engine's agents of this project work: with you, or until they are finished
/agents          list the living agents
/clear           let the agent forget the conversation; it stays on record
/cancel          cancel the turn, as Ctrl-C does
/quit            leave; the agent stays (Ctrl-D, or Ctrl-C twice)
@name words      say the words to another agent, and stay with it
//words          say words that begin with a slash`;

/** Parses a typed line. `/mode` is for the daemon, which also understands `@name`. */
export function parseWords(line: string): ChatWords {
  const text = line.trim();
  if (text === '') return { kind: 'nothing' };
  if (text.startsWith('//')) return { kind: 'say', text: text.slice(1) };
  const word = /^\/(\S*)$/.exec(text)?.[1];
  const command = word === undefined ? undefined : commandNamed(word);
  if (command !== undefined) return { kind: command };
  if (/^\/mode(?:\s|$)/.test(text) || !text.startsWith('/')) return { kind: 'say', text };
  return { kind: 'unknown', command: text.split(/\s/, 1)[0] ?? text };
}

function commandNamed(word: string): (typeof commands)[keyof typeof commands] | undefined {
  return Object.hasOwn(commands, word) ? commands[word as keyof typeof commands] : undefined;
}

/** The answer to a request for approval. */
export type ApprovalWords = { allow: boolean; again?: 'session' | 'agent' | 'project'; answer?: string };

/** The letters for the options of `pawl reply`, and what each answers. */
const letters: Record<string, { letter: string; word: string; answer: ApprovalWords }> = {
  '--allow': { letter: 'y', word: 'yes', answer: { allow: true } },
  '--session': { letter: 's', word: 'session', answer: { allow: true, again: 'session' } },
  '--agent': { letter: 'g', word: 'agent', answer: { allow: true, again: 'agent' } },
  '--always': { letter: 'a', word: 'always', answer: { allow: true, again: 'project' } },
  '--deny': { letter: 'n', word: 'no', answer: { allow: false } },
};

/** The letter to type for an option; the option itself if it has none. */
export function letterFor(option: string): string {
  return (Object.hasOwn(letters, option) ? letters[option]?.letter : undefined) ?? option;
}

/** Parses a letter or word for one of the offered options, and `n why`; null for anything else. */
export function parseApproval(line: string, offered: readonly string[]): ApprovalWords | null {
  const text = line.trim();
  const named = offered
    .map((option) => letters[option])
    .find((each) => each?.letter === text.toLowerCase() || each?.word === text.toLowerCase());
  if (named !== undefined) return named.answer;
  const no = /^no?[\s,:]+(.+)$/i.exec(text);
  return no?.[1] === undefined || !offered.includes('--deny') ? null : { allow: false, answer: no[1] };
}
