import { describe, expect, test } from 'vitest';
import type { TakeUp } from '../../src/sessions/conversation.ts';
import { takeUp } from '../../src/sessions/conversation.ts';
import { aPreset, aSession, anAgent } from '../fixture.ts';

type Given = Parameters<typeof takeUp>[0];
type Row = [name: string, given: Partial<Given>, conversation: TakeUp['conversation'], from?: string];

const spoke = (no: number, id: string | null = `own-${no}`) => aSession({ no, providerSessionId: id, endedAt: 9 });
const forked = anAgent({ forkMessageId: 41, forkedConversation: 'parents' });
const replaying = aPreset({ forkStyle: 'replay' });
const forgetful = aPreset({ resume: null, fork: null, forkStyle: 'replay' });
const handed = aPreset({ handOver: ['--conversation', '{file}'] });

const rows: Row[] = [
  ['a first session with nothing before it', {}, 'new'],
  ['a first session with words before it', { past: 'own' }, 'replay'],
  ['a second session', { sessions: [spoke(1)] }, 'resume', 'own-1'],
  ['a second session of an agent that has a past', { sessions: [spoke(1)], past: 'own' }, 'resume', 'own-1'],
  ['several sessions: the last one counts', { sessions: [spoke(1), spoke(2), spoke(3)] }, 'resume', 'own-3'],
  [
    'the last session gave no id: the one before it counts',
    { sessions: [spoke(1), spoke(2, null)] },
    'resume',
    'own-1',
  ],
  ['no session ever gave an id, and nothing was said', { sessions: [spoke(1, null)] }, 'new'],
  ['no session ever gave an id', { sessions: [spoke(1, null)], past: 'own' }, 'replay'],

  ['a child where the provider can branch off', { agent: forked, past: 'own' }, 'fork', 'parents'],
  ['a child whose past is not looked at', { agent: forked }, 'fork', 'parents'],
  ['a child that has spoken goes on with its own', { agent: forked, sessions: [spoke(1)] }, 'resume', 'own-1'],
  [
    'a child whose session never gave an id branches off again',
    { agent: forked, sessions: [spoke(1, null)] },
    'fork',
    'parents',
  ],
  ['a child whose parent has gone on since the fork', { agent: forked, branchable: false, past: 'own' }, 'replay'],
  ['a child whose parent had no conversation', { agent: anAgent({ forkMessageId: 41 }), past: 'own' }, 'replay'],
  ['a child of a parent that had said nothing', { agent: anAgent({ forkMessageId: 41 }) }, 'new'],
  ['a child where the provider is told in words', { agent: forked, preset: replaying, past: 'own' }, 'replay'],
  [
    'a child where the provider has no arguments to branch off',
    { agent: forked, preset: aPreset({ fork: null }), past: 'own' },
    'replay',
  ],
  ['a child where the provider can do nothing of it', { agent: forked, preset: aPreset({ forkStyle: 'none' }) }, 'new'],

  ['a provider that is handed the conversation, with words of its own', { preset: handed, past: 'own' }, 'resume'],
  ['a provider that is handed its parent’s conversation', { agent: forked, preset: handed, past: 'inherited' }, 'fork'],
  ['a provider that is handed nothing', { preset: handed, sessions: [spoke(1)] }, 'new'],

  ['after a clear', { agent: anAgent({ freshAfter: 2 }), sessions: [spoke(1), spoke(2)] }, 'new'],
  ['after a rewind', { agent: anAgent({ freshAfter: 2 }), sessions: [spoke(1), spoke(2)], past: 'own' }, 'replay'],
  [
    'in the second session after a clear',
    { agent: anAgent({ freshAfter: 2 }), sessions: [spoke(1), spoke(2), spoke(3)] },
    'resume',
    'own-3',
  ],
  [
    'after a clear, when the next session gave no id',
    { agent: anAgent({ freshAfter: 1 }), sessions: [spoke(1), spoke(2, null)], past: 'own' },
    'replay',
  ],

  ['5.2.16: a provider that cannot resume', { preset: forgetful, sessions: [spoke(1)], past: 'own' }, 'replay'],
  ['a provider that cannot resume, and nothing was said', { preset: forgetful, sessions: [spoke(1)] }, 'new'],
  [
    'a child with words of its own never branches off its parent’s again, for those would be lost',
    { agent: forked, preset: aPreset({ resume: null }), sessions: [spoke(1)], past: 'own' },
    'replay',
  ],
];

describe('a session continues its agent’s conversation [7.20]', () => {
  test.each(rows)('%s', (_name, given, conversation, from) => {
    const taken = takeUp({
      agent: anAgent(),
      sessions: [],
      preset: aPreset(),
      branchable: true,
      past: 'none' as const,
      ...given,
    });
    expect(taken).toEqual({ conversation, from: from ?? null });
  });
});
