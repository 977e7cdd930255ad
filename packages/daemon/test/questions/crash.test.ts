import { processTable } from '@pawl/host/process/process-table';
import { homeAt } from '@pawl/protocol/node/home';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { patienceMs, waitUntil } from '@pawl/testing/wait-until';
import { programs } from '@pawl/protocol/node/programs';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { statesOf } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';

type Left = { code: number; stdout: string; stderr: string };

/** The command line as a person calls it, in a process of its own. */
function pawl(home: string, words: string[]): Promise<Left> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('PAWL_'));
  const env = { ...Object.fromEntries(own), NO_COLOR: '1', PAWL_HOME: home };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [programs.pawl, ...words],
      { env, timeout: patienceMs },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** A daemon that will be killed at a point, with a working agent. */
async function oneAtWork(path: string, crashAt: CrashPoint) {
  const [home, repository] = [join(path, 'home'), join(path, 'sample')];
  await sampleRepository(repository);
  const first = await readyDaemon(home, { crashAt });
  await first.client.addProject({ path: repository });
  const options = { scenario: await writeScenario(path, [{ say: 'standing by' }, 'hang']) };
  const request = { path: repository, task: 'a task', provider: 'scripted', options };
  const { agent } = await first.client.work(request, randomUUID());
  await outputHas(first.client, agent.id, 'standing by');
  return { home, first, asked: agent.id, forAsked: agentClient(homeAt(home), agent.id) };
}

/** Ends the daemon that a command has started, with its agents. */
async function endSuccessor({ client }: Awaited<ReturnType<typeof readyDaemon>>): Promise<void> {
  await client.stopAll();
  const { pid } = await client.stopDaemon();
  await waitUntil(async () => processTable.read(pid) === null, { what: 'the daemon to leave' });
}

test('a question whose daemon is killed right after it was asked is asked once, delivered and answered [fault 4]', async () => {
  await using place = await temporaryDirectory();
  const { home, first, asked, forAsked } = await oneAtWork(place.path, 'question.after_ask');
  const asking = pawl(home, ['ask', 'which port?', '--agent-id', asked]);
  expect((await first.exited).signal).toBe('SIGKILL');
  try {
    const open = await waitUntil(
      async () => {
        const { questions } = await first.client.openQuestions(asked).catch(() => ({ questions: [] }));
        return questions.length > 0 ? questions : undefined;
      },
      { what: 'the question at the next daemon' },
    );
    expect(open).toHaveLength(1);
    await forAsked.answer(open[0]?.conversationId ?? '', { answer: 'port 8080' });
    expect(await asking).toEqual({ code: 0, stdout: 'port 8080\n', stderr: '' });
  } finally {
    await endSuccessor(first);
  }
});

test('an answer whose daemon is killed right after it was given reaches the waiting command, once [fault 4]', async () => {
  await using place = await temporaryDirectory();
  const { home, first, asked, forAsked } = await oneAtWork(place.path, 'question.after_answer');
  const asking = pawl(home, ['ask', 'which port?', '--agent-id', asked]);
  const { conversationId = '' } = (await forAsked.listen(asked).next()).value ?? {};
  await forAsked.answer(conversationId, { answer: 'port 8080' }).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  expect(await asking).toEqual({ code: 0, stdout: 'port 8080\n', stderr: '' });
  try {
    // The answerer got no response, and repeats the answer.
    const answered = { conversationId, status: 'answered' };
    expect(await forAsked.answer(conversationId, { answer: 'port 8080' })).toEqual(answered);
    const { events } = await first.client.events({ agent: asked, limit: 1000 });
    const sent = events.filter(({ type, data }) => type === 'mail.sent' && data['kind'] === 'answer');
    expect(sent).toHaveLength(1);
    expect(await statesOf(first.client, String(sent[0]?.data['mailId']))).toEqual(['sent', 'delivered', 'read']);
    expect(events.filter(({ type }) => type === 'question.ended')).toHaveLength(1);
  } finally {
    await endSuccessor(first);
  }
});
