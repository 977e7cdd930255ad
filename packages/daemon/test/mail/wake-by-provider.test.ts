import { programs } from '@pawl/protocol/node/programs';
import { waitUntil } from '@pawl/testing/wait-until';
import { sampleOf } from '@pawl/testing/endurance';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { mailIs, send } from '../support/mail.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  const cannotResume = { extends: 'scripted', resume: null, fork: null, fork_style: 'replay' };
  const program = [process.execPath, ...programs.scriptedAgent, '-p', '--output-format', 'stream-json'];
  daemon = await startTestDaemon({
    providers: {
      forgetful: cannotResume,
      // Like cline: one process per turn, the prompt is an argument, and it names no session.
      argument: {
        ...cannotResume,
        command: program,
        echoes: false,
        choose_session: null,
        prompt_mode: 'argument',
        prompt_arguments: ['{prompt}'],
      },
      // Like aider: its output is plain text, none of which becomes history.
      plain: {
        ...cannotResume,
        command: program,
        echoes: false,
        choose_session: null,
        prompt_mode: 'stdin',
        output_format: 'text',
      },
    },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** An idle agent that has finished its first task. A later turn does not end while its gate is closed. */
async function resting(provider: string) {
  const gate = join(daemon.home.root, randomUUID());
  const steps = [
    { say: 'I looked at the parser.' },
    { shell: `while [ -e '${gate}' ]; do sleep 0.02; done` },
    'complete',
  ];
  const agent = await daemon.work([...steps, ...steps], { provider, task: 'Look at the parser first.' });
  return { gate, ...(await daemon.ended(agent.id)) };
}

/** How the second session of an agent resumed the conversation, and its prompt. */
async function secondSession(agentId: string) {
  const hasBegun = async () =>
    (await daemon.client.inspectAgent(agentId)).sessions.some(({ no, startedAt }) => no === 2 && startedAt !== null);
  await waitUntil(hasBegun, { what: 'its second session to start' });
  const { session, turn } = await daemon.client.agentPrompt(agentId, { session: 2 });
  return { conversation: session.conversation, prompt: turn };
}

const replaying = [
  ['forgetful', 'replay'],
  ['argument', 'replay'],
  ['plain', 'replay'],
] as const;

describe.each([['scripted', 'resume'] as const, ...sampleOf(replaying, 1)])(
  'an idle agent of the provider %s [5.2.16]',
  (provider, conversation) => {
    test('is woken by mail, sees it once, and knows the earlier conversation', async () => {
      const agent = await resting(provider);
      const mailId = await send(daemon.client, agent.id, 'The lexer has moved.');
      await mailIs(daemon.client, mailId, 'read');
      const turn = await secondSession(agent.id);
      expect(turn.conversation).toBe(conversation);
      expect((await daemon.ended(agent.id)).session).toMatchObject({ no: 2 });
      expect(turn.prompt.split('The lexer has moved.')).toHaveLength(2);
      if (conversation === 'replay') expect(turn.prompt).toContain('Look at the parser first.');
      if (provider === 'forgetful' || provider === 'argument') expect(turn.prompt).toContain('I looked at the parser.');
    });

    test('is woken by a question, and its answer reaches the agent that asked', async () => {
      const agent = await resting(provider);
      const asker = await resting('scripted');
      writeFileSync(agent.gate, '');
      const body = { agent: agent.id, question: 'Which parser is it?' };
      const { question } = await agentClient(daemon.home, asker.id).ask(body, randomUUID());
      const { prompt } = await secondSession(agent.id);
      expect(prompt).toContain('Which parser is it?');
      expect(prompt).toContain(`--conversation-id ${question.conversationId}`);
      await agentClient(daemon.home, agent.id).answer(question.conversationId, { answer: 'The small one.' });
      const ended = await daemon.client.showQuestion(question.conversationId);
      expect(ended.question).toMatchObject({ end: 'answered', answer: 'The small one.' });
      rmSync(agent.gate);
      expect((await daemon.ended(agent.id)).session).toMatchObject({ no: 2 });
    });
  },
);
