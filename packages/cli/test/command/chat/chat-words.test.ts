import { expect, test } from 'vitest';
import { parseApproval, parseWords } from '../../../src/command/chat/chat-words.ts';

test.each([
  ['', { kind: 'nothing' }],
  ['  ', { kind: 'nothing' }],
  ['hello', { kind: 'say', text: 'hello' }],
  ['/help', { kind: 'help' }],
  ['/agents', { kind: 'agents' }],
  ['/clear', { kind: 'clear' }],
  ['/cancel', { kind: 'cancel' }],
  ['/quit', { kind: 'quit' }],
  ['/exit', { kind: 'quit' }],
  ['/mode chat', { kind: 'say', text: '/mode chat' }],
  ['@lead hello', { kind: 'say', text: '@lead hello' }],
  ['//etc/hosts is wrong', { kind: 'say', text: '/etc/hosts is wrong' }],
  ['/etc/hosts is wrong', { kind: 'unknown', command: '/etc/hosts' }],
  ['/constructor', { kind: 'unknown', command: '/constructor' }],
])('%j', (line, words) => {
  expect(parseWords(line)).toEqual(words);
});

const all = ['--allow', '--session', '--agent', '--always', '--deny'];
const few = ['--allow', '--deny'];

test.each([
  ['y', all, { allow: true }],
  ['Yes', few, { allow: true }],
  ['s', all, { allow: true, again: 'session' }],
  ['agent', all, { allow: true, again: 'agent' }],
  ['always', all, { allow: true, again: 'project' }],
  ['a', few, null],
  ['n', all, { allow: false }],
  ['no, use npm test', all, { allow: false, answer: 'use npm test' }],
  ['nothing like this', all, null],
  ['maybe', all, null],
])('the answer %j of %j', (line, offered, words) => {
  expect(parseApproval(line, offered)).toEqual(words);
});
