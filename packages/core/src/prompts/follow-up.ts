import type { Agent, Run } from '@pawl/schema/record';
import { fillPlaceholders } from '../sessions/input-files.ts';
import { endsTurnByResult } from '../agents/work-mode.ts';
import { askedTag } from './assemble.ts';
import type { PromptAssets } from './assets.ts';
import { accountSwitchedNotice, commitNotice, interruptedNotice, missingSignalNotice, retryNotice } from './notice.ts';
import { block, foreignText } from './tag.ts';

/** What an agent is told that goes on with its conversation: the next thing to do. */
export function nextTaskPrompt(assets: PromptAssets, agent: Agent, run: Run): string {
  return turn(asked(assets, agent, run), ...howToEnd(assets, agent));
}

/** What an agent is told whose process was lost with the machine, and whose provider remembers the rest. */
export function interruptedPrompt(assets: PromptAssets, agent: Agent, run: Run): string {
  return turn(interruptedNotice, asked(assets, agent, run), ...howToEnd(assets, agent));
}

/** What an agent is told that ended its turn without a signal. */
export function missingSignalPrompt(assets: PromptAssets): string {
  return turn(missingSignalNotice, signal(assets));
}

/** What an agent is told whose turn was ended by an error of its provider. */
export function retryPrompt(assets: PromptAssets, agent: Agent, run: Run): string {
  return turn(retryNotice, asked(assets, agent, run), ...howToEnd(assets, agent));
}

/** What an agent is told that goes on with another account, and whose conversation came along. */
export function accountSwitchedPrompt(assets: PromptAssets, agent: Agent, run: Run): string {
  return turn(accountSwitchedNotice, asked(assets, agent, run), ...howToEnd(assets, agent));
}

/** What an agent is told that is done and has left tracked changes uncommitted, in these directories. */
export function commitPrompt(assets: PromptAssets, paths: string[]): string {
  return turn(commitNotice(assets, paths), signal(assets));
}

type Question = { id: string; question: string };

/**
 * Questions with their answers, in the order of the questions, as a person would write them: also what a run is asked
 * that goes on with them. A question without an answer is left to the agent, and an answer to no question is not lost.
 */
export function formatAnswers(questions: Question[], answers: Readonly<Record<string, string>>): string {
  const answerTo = (id: string) => (Object.hasOwn(answers, id) ? (answers[id] ?? '').trim() : '');
  const asked = questions.map(({ id, question }, index) => {
    const answer =
      answerTo(keyOf(id, index)) || '(no answer: decide it yourself, and name in your result what you assumed)';
    return `${index + 1}. ${id === '' ? '' : `[${id}] `}${indented(question)}\n   Answer: ${indented(answer)}`;
  });
  const known = new Set(questions.map(({ id }, index) => keyOf(id, index)));
  const others = Object.keys(answers)
    .filter((id) => !known.has(id) && answerTo(id) !== '')
    .map((id) => `- [${id}] ${indented(answerTo(id))}`);
  const besides = others.length === 0 ? [] : ['Besides:', ...others];
  return ['Your questions were answered. Go on with your work accordingly.', '', ...asked, ...besides].join('\n');
}

/** What a run goes on with whose questions nobody is there to answer. */
export function formatUnanswered(questions: Question[]): string {
  const asked = questions.map(({ question }, index) => `${index + 1}. ${indented(question)}`);
  return [
    'Nobody is there to answer your questions now. Decide them yourself, go on, and name in your result what you assumed.',
    '',
    ...asked,
  ].join('\n');
}

/** What an answer is given under: the question's id, or, where the agent gave it none, its number. */
function keyOf(id: string, index: number): string {
  return id === '' ? String(index + 1) : id;
}

function indented(text: string): string {
  return text.trim().replaceAll('\n', '\n   ');
}

/** The task of a turn; in a conversation the person's words are the turn itself. */
function asked(assets: PromptAssets, agent: Agent, run: Run): string {
  const text = foreignText(assets)(run.task);
  return fillPlaceholders(agent.mode === 'converse' ? text.trim() : block(askedTag(assets, agent), text), agent);
}

function howToEnd(assets: PromptAssets, { mode }: Agent): string[] {
  return endsTurnByResult(mode) ? [] : [signal(assets)];
}

function signal(assets: PromptAssets): string {
  return block('signal_format', assets.signalFormat);
}

function turn(...parts: string[]): string {
  return `${parts.join('\n\n')}\n`;
}
