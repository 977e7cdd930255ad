import { signalSchema } from '@pawl/schema/signal';
import { describe, expect, test } from 'vitest';
import {
  accountSwitchedPrompt,
  commitPrompt,
  formatAnswers,
  formatUnanswered,
  interruptedPrompt,
  missingSignalPrompt,
  nextTaskPrompt,
  retryPrompt,
} from '../../src/prompts/follow-up.ts';
import { noticeOf } from '../../src/prompts/notice.ts';
import { aRun, anAgent } from '../fixture.ts';
import { partsOf, promptAssets } from './fixture.ts';

const assets = promptAssets();
const agent = anAgent();
const run = aRun({ task: 'now {AGENT_NAME}, test </task> it' });

test('the next task of a conversation has the task and how to end, and no more', () => {
  const prompt = nextTaskPrompt(assets, agent, run);
  expect(prompt).toContain('<task>\nnow brave-otter, test &lt;/task> it\n</task>');
  expect(partsOf(prompt)).toEqual(['task', 'signal_format']);
});

test('the task has the tag of the agent’s mode', () => {
  expect(partsOf(nextTaskPrompt(assets, anAgent({ mode: 'review' }), run))[0]).toBe('request');
  expect(partsOf(nextTaskPrompt(assets, anAgent({ mode: 'refine-chat' }), run))[0]).toBe('instruction');
});

test('coordinate and converse ask for no signal, and a person’s message is the turn itself [S4-12]', () => {
  expect(partsOf(nextTaskPrompt(assets, anAgent({ mode: 'coordinate' }), run))).toEqual(['request']);
  expect(partsOf(retryPrompt(assets, anAgent({ mode: 'coordinate' }), run))).toEqual(['provider_error', 'request']);
  expect(nextTaskPrompt(assets, anAgent({ mode: 'converse' }), aRun({ task: ' Why is it </workspace> slow? ' }))).toBe(
    'Why is it &lt;/workspace> slow?\n',
  );
});

test('an agent that was lost with the machine learns that, and what to check [S1-18]', () => {
  const prompt = interruptedPrompt(assets, agent, run);
  expect(partsOf(prompt)).toEqual(['interrupted', 'task', 'signal_format']);
  expect(prompt).toMatch(/You were interrupted.*git status/s);
});

test('after a provider error or an account switch, the prompt says to look and continue [W3-08]', () => {
  expect(partsOf(retryPrompt(assets, agent, run))).toEqual(['provider_error', 'task', 'signal_format']);
  expect(partsOf(accountSwitchedPrompt(assets, agent, run))).toEqual(['account_switched', 'task', 'signal_format']);
  expect(accountSwitchedPrompt(assets, agent, run)).toMatch(/another account.*git status/s);
});

test('a missing signal is asked for by its path [S3-34]', () => {
  expect(missingSignalPrompt(assets)).toMatch(/without writing \.pawl\/output\/signal\.json/);
  expect(partsOf(missingSignalPrompt(assets))).toEqual(['missing_signal', 'signal_format']);
});

test('uncommitted work is asked for by absolute paths, and of tracked files only [S3-66, S3-67]', () => {
  const prompt = commitPrompt(assets, ['/home/me/work/a', '/home/me/</uncommitted>']);
  expect(prompt).toContain('- /home/me/work/a\n- /home/me/&lt;/uncommitted>\n');
  expect(prompt).toMatch(/cd into it by that absolute path[^]*`git add -u` \(tracked files only/);
  expect(partsOf(prompt)).toEqual(['uncommitted', 'signal_format']);
});

test('every follow-up says how to end', () => {
  const prompts = [
    nextTaskPrompt(assets, agent, run),
    interruptedPrompt(assets, agent, run),
    missingSignalPrompt(assets),
    retryPrompt(assets, agent, run),
    accountSwitchedPrompt(assets, agent, run),
    commitPrompt(assets, ['/a']),
  ];
  for (const prompt of prompts) {
    const examples = prompt.match(/^\{"status".*\}$/gm) ?? [];
    expect(examples.map((example) => signalSchema.parse(JSON.parse(example)).status)).toEqual([
      'done',
      'questions',
      'error',
    ]);
  }
});

describe('answers [S3-42]', () => {
  const questions = [
    { id: 'q1', question: 'Which port?' },
    { id: 'q2', question: 'Which\nhost?' },
  ];

  test('stand under their questions, in order', () => {
    expect(formatAnswers(questions, { q2: ' localhost\nonly ', q1: '80' })).toBe(
      `Your questions were answered. Continue your work accordingly.

1. [q1] Which port?
   Answer: 80
2. [q2] Which
   host?
   Answer: localhost
   only`,
    );
  });

  test('an unanswered question is left to the agent, and an answer without a question is kept', () => {
    const text = formatAnswers(questions, { q1: '80', q9: 'hurry', q2: ' ' });
    expect(text).toMatch(/2\. \[q2\][^]*Answer: \(no answer: decide it yourself/);
    expect(text).toMatch(/Besides:\n- \[q9\] hurry$/);
  });

  test('questions without an id are answered by number, and inherited property names are not answers', () => {
    expect(formatAnswers([{ id: '', question: 'Why?' }], { 1: 'so' })).toMatch(/1\. Why\?\n {3}Answer: so$/);
    expect(formatAnswers([{ id: 'constructor', question: 'Why?' }], {})).toContain('(no answer');
  });
});

test('each session purpose has its notice, except those that need none or more', () => {
  expect(noticeOf('work')).toBeNull();
  expect(noticeOf('commit')).toBeNull();
  expect(partsOf(`${noticeOf('missing-signal')}`)).toEqual(['missing_signal']);
  expect(partsOf(`${noticeOf('interrupted')}`)).toEqual(['interrupted']);
  expect(partsOf(`${noticeOf('retry')}`)).toEqual(['provider_error']);
  expect(partsOf(`${noticeOf('account')}`)).toEqual(['account_switched']);
});

test('without anybody to answer, the agent decides itself', () => {
  const text = formatUnanswered([
    { id: 'db', question: 'Which database?\nSQLite?' },
    { id: '', question: 'Which colour?' },
  ]);
  expect(text).toMatch(
    /^No one is available to answer your questions\. Decide them yourself.*assumptions in your result\.$/m,
  );
  expect(text).toContain('1. Which database?\n   SQLite?\n2. Which colour?');
});
