import { PawlError } from '@pawl/schema/error';

/** Whom to fork, and with which first prompt. */
export type ForkWords = {
  reference: string;
  prompt?: string;
  /** What to say when there is no such agent: a word may have been meant otherwise. */
  unlessFound?: PawlError;
};

const current = '@current';
const quotes = { hint: 'Put the prompt in quotes: pawl fork [agent] "what to do".' };

/**
 * Reads the words of `pawl fork [agent] [prompt]`. One word alone is the prompt when it has white space in it, which no
 * agent's name has, and else the agent.
 */
export function readForkWords(words: string[], promptOption?: string): ForkWords {
  if (words.length > 2) throw new PawlError('usage', 'There are more words than an agent and a prompt.', quotes);
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

/** A word as it can be typed again. */
function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.slice(0, 80).replaceAll("'", `'\\''`)}'`;
}
