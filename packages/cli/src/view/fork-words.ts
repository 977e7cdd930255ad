import { PawlError } from '@pawl/schema/error';

/** The agent to fork, and its first prompt. */
export type ForkWords = {
  reference: string;
  prompt?: string;
  /** The error if there is no such agent: the word may have been meant otherwise. */
  unlessFound?: PawlError;
};

const current = '@current';
const quotes = { hint: 'Put the prompt in quotes: pawl fork [agent] "what to do".' };

/**
 * Parses `pawl fork [agent] [prompt]`. A single word is the prompt if it contains white space, which no agent's name
 * has, else the agent.
 */
export function readForkWords(words: string[], promptOption?: string): ForkWords {
  if (words.length > 2) throw new PawlError('usage', 'Too many arguments: expected an agent and a prompt.', quotes);
  if (words.length === 2 && promptOption !== undefined) throw twoPrompts();
  const [first, second] = words;
  if (first === undefined) return withPrompt(current, promptOption);
  if (second !== undefined) {
    if (/\s/.test(first)) throw new PawlError('usage', `${JSON.stringify(first)} is no agent.`, quotes);
    return { ...withPrompt(first, second), unlessFound: noAgent(first, quotes.hint) };
  }
  if (first.trim() !== '' && !/\s/.test(first)) {
    if (promptOption !== undefined) return withPrompt(first, promptOption);
    const hint = `List the agents with \`pawl ps\`, or fork with that prompt: pawl fork --prompt ${shellWord(first)}`;
    return { reference: first, unlessFound: noAgent(first, hint, '; a prompt of one word needs --prompt') };
  }
  if (promptOption !== undefined) throw twoPrompts();
  return withPrompt(current, first);
}

function withPrompt(reference: string, prompt: string | undefined): ForkWords {
  if (prompt === undefined) return { reference };
  if (prompt.trim() !== '') return { reference, prompt };
  throw new PawlError('usage', 'The prompt is empty.', {
    hint: 'Leave it out to fork without one: then the child waits for your word.',
  });
}

function twoPrompts(): PawlError {
  return new PawlError('usage', 'There are two prompts, in words and with --prompt.', { hint: 'Give one of them.' });
}

function noAgent(word: string, hint: string, more = ''): PawlError {
  return new PawlError('agent_not_found', `There is no agent ${JSON.stringify(word.slice(0, 80))}${more}.`, { hint });
}

/** Quotes a word for a shell. */
function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.slice(0, 80).replaceAll("'", `'\\''`)}'`;
}
