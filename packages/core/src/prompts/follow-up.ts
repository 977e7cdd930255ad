import type { Agent, Run } from '@pawl/schema/record';
import { fillPlaceholders } from '../sessions/input-files.ts';
import { endsTurnByResult } from '../agents/work-mode.ts';
import { askedTag } from './assemble.ts';
import type { PromptAssets } from './assets.ts';
import {
  accountSwitchedNotice,
  commitNotice,
  interruptedNotice,
  missingSignalNotice,
  outputNotice,
  retryNotice,
} from './notice.ts';
import { block } from './tag.ts';

/** Continues a conversation with the next task. */
export function nextTaskPrompt(assets: PromptAssets, agent: Agent, run: Run): string {
  return turn(asked(assets, agent, run), ...howToEnd(assets, agent));
}

/** Resumes a conversation whose process was lost with the machine. */
export function interruptedPrompt(assets: PromptAssets, agent: Agent, run: Run): string {
  return turn(interruptedNotice, asked(assets, agent, run), ...howToEnd(assets, agent));
}

/** Asks for a missing signal. */
export function missingSignalPrompt(assets: PromptAssets): string {
  return turn(missingSignalNotice, signal(assets));
}

/** Resumes after a provider error ended the turn. */
export function retryPrompt(assets: PromptAssets, agent: Agent, run: Run): string {
  return turn(retryNotice, asked(assets, agent, run), ...howToEnd(assets, agent));
}

/** Resumes with another account, with the conversation carried over. */
export function accountSwitchedPrompt(assets: PromptAssets, agent: Agent, run: Run): string {
  return turn(accountSwitchedNotice, asked(assets, agent, run), ...howToEnd(assets, agent));
}

/** Asks a finished agent to commit the tracked changes it left in these directories. */
export function commitPrompt(assets: PromptAssets, paths: string[]): string {
  return turn(commitNotice(assets, paths), signal(assets));
}

/** Asks a planning agent to correct its output. */
export function outputPrompt(assets: PromptAssets, complaints: string[]): string {
  return turn(outputNotice(assets, complaints), signal(assets));
}

type Question = { id: string; question: string };

/**
 * Renders questions with their answers, in order; also the task of the run that continues with them. An unanswered
 * question is left to the agent, and an answer without a question is kept.
 */
export function formatAnswers(questions: Question[], answers: Readonly<Record<string, string>>): string {
  const answerTo = (id: string) => (Object.hasOwn(answers, id) ? (answers[id] ?? '').trim() : '');
  const asked = questions.map(({ id, question }, index) => {
    const answer =
      answerTo(keyOf(id, index)) || '(no answer: decide it yourself, and state your assumption in your result)';
    return `${index + 1}. ${id === '' ? '' : `[${id}] `}${indented(question)}\n   Answer: ${indented(answer)}`;
  });
  const known = new Set(questions.map(({ id }, index) => keyOf(id, index)));
  const others = Object.keys(answers)
    .filter((id) => !known.has(id) && answerTo(id) !== '')
    .map((id) => `- [${id}] ${indented(answerTo(id))}`);
  const besides = others.length === 0 ? [] : ['Besides:', ...others];
  return ['Your questions were answered. Continue your work accordingly.', '', ...asked, ...besides].join('\n');
}

/** Tells a run to decide its questions itself, since no person is available. */
export function formatUnanswered(questions: Question[]): string {
  const asked = questions.map(({ question }, index) => `${index + 1}. ${indented(question)}`);
  return [
    'No one is available to answer your questions. Decide them yourself, continue, and state your assumptions in your result.',
    '',
    ...asked,
  ].join('\n');
}

/** The key of an answer: the question's id, or its number if it has none. */
function keyOf(id: string, index: number): string {
  return id === '' ? String(index + 1) : id;
}

function indented(text: string): string {
  return text.trim().replaceAll('\n', '\n   ');
}

/** The task of a turn; in a conversation, the person's message is the turn itself. */
function asked(assets: PromptAssets, agent: Agent, run: Run): string {
  const text = assets.escape(run.task);
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
