import type { Inbox, InboxItem, QuestionView } from '@pawl/protocol/questions/view';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { answer } from '../../../src/command/mail/answer.ts';
import { ask } from '../../../src/command/mail/ask.ts';
import { inbox } from '../../../src/command/mail/inbox.ts';
import { listen } from '../../../src/command/mail/listen.ts';
import { reply } from '../../../src/command/mail/reply.ts';
import { waitTime } from '../../../src/agent/wait-time.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { changeView } from '../../change-view.ts';
import type { Exchange } from '../fake-daemon.ts';
import { fakeDaemon, sendFailure, sendJson, sendStream } from '../fake-daemon.ts';

beforeEach(() => {
  vi.stubEnv('PAWL_AGENT_ID', undefined);
  vi.stubEnv('PAWL_AGENT_TOKEN', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const conversationId = idOf(7);
const open: QuestionView = {
  conversationId,
  kind: 'question',
  from: { id: idOf(1), alias: 'brave-otter' },
  to: { id: idOf(2), alias: 'calm-owl' },
  question: 'which port?',
  taskId: null,
  phaseId: null,
  askedAt: 0,
  deadlineAt: null,
  endedAt: null,
  end: null,
  answer: null,
  reason: null,
};

/** A daemon at which a question ends like this; its stream breaks so often before. */
function questionDaemon(ended: Partial<QuestionView>, { losses = 0, json = false } = {}) {
  let streams = 0;
  return fakeDaemon(
    ({ request, response }: Exchange) => {
      if (request.headers.accept !== 'text/event-stream') return sendJson(response, { question: open });
      if (streams++ < losses) return void response.destroy();
      sendStream(response, [{ event: 'ended', data: { ...open, ...ended } }]);
    },
    { json },
  );
}

/** The failure of a command, with its exit code. */
async function failure(command: Promise<number>): Promise<{ exit: number; message: string }> {
  const error: unknown = await command.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PawlError)) throw new Error('it did not fail');
  return { exit: errorCodes[error.code].exit, message: error.message };
}

describe('ask [S3-81]', () => {
  const answered = { end: 'answered', answer: 'port 8080\nof the second' } as const;

  test('prints only the answer, and marks it shown', async () => {
    await using daemon = await questionDaemon(answered);
    expect(await ask(daemon.context, 'which port?', { from: idOf(1), agentId: 'calm-owl' })).toBe(0);
    expect(daemon.texts).toEqual(['port 8080\nof the second']);
    expect(daemon.said).toEqual([]);
    expect(daemon.bodies[0]).toEqual({ question: 'which port?', from: idOf(1), agent: 'calm-owl' });
    expect(daemon.requests).toEqual([
      'POST /api/questions',
      `GET /api/questions/${conversationId}`,
      `POST /api/questions/${conversationId}/shown`,
    ]);
  });

  test.each([
    [{ taskId: '4fGh' }, { task: '4fGh' }],
    [{ phaseId: 'parsing' }, { phase: 'parsing' }],
    [{ person: true }, { person: true }],
    [
      { agentId: 'x', timeout: 30_000 },
      { agent: 'x', timeoutMs: 30_000 },
    ],
  ])('%j names the recipient', async (options, body) => {
    await using daemon = await questionDaemon(answered);
    vi.stubEnv('PAWL_AGENT_ID', idOf(1));
    vi.stubEnv('PAWL_AGENT_TOKEN', 'its-token');
    await ask(daemon.context, 'which?', options);
    expect(daemon.bodies[0]).toEqual({ question: 'which?', from: idOf(1), ...body });
  });

  test('a helper that is not found among the processes does not ask as the person', async () => {
    await using daemon = await questionDaemon(answered);
    vi.stubEnv('PAWL_AGENT_ID', 'helper-ab12.1763251200');
    expect((await failure(ask(daemon.context, 'which?', { agentId: 'x' }))).exit).toBe(8);
    expect(daemon.requests).toEqual([]);
    expect((await failure(listen(daemon.context, {}))).exit).toBe(2);
  });

  test('exactly one recipient is required', async () => {
    await using daemon = await questionDaemon(answered);
    for (const options of [{}, { agentId: 'x', taskId: 'y' }, { agentId: 'x', person: true }])
      expect((await failure(ask(daemon.context, 'which?', options))).exit).toBe(2);
    expect(daemon.requests).toEqual([]);
  });

  test('continues to wait when its stream is lost, and asks nothing again', async () => {
    await using daemon = await questionDaemon(answered, { losses: 2 });
    expect(await ask(daemon.context, 'which port?', { agentId: 'calm-owl' })).toBe(0);
    expect(daemon.requests.filter((request) => request === 'POST /api/questions')).toHaveLength(1);
    expect(daemon.texts).toHaveLength(1);
  });

  test('terminal escapes are not printed', async () => {
    await using daemon = await questionDaemon({ end: 'answered', answer: 'a\u001B[2Jb' });
    await ask(daemon.context, 'x?', { agentId: 'calm-owl' });
    expect(daemon.texts[0]).not.toContain('\u001B');
  });

  test.each([
    ['expired', 5, 'calm-owl has not answered within 30 s'],
    ['not-now', 7, 'No one is available to answer'],
    ['cancelled', 4, 'calm-owl is dead'],
  ] as const)('one that ended %s exits with %i and says why [5.2.13]', async (end, exit, reason) => {
    await using daemon = await questionDaemon({ end, reason });
    expect(await failure(ask(daemon.context, 'x?', { agentId: 'calm-owl' }))).toEqual({ exit, message: `${reason}.` });
    // Else it would come by mail as well.
    expect(daemon.requests.at(-1)).toBe(`POST /api/questions/${conversationId}/shown`);
    expect(daemon.texts).toEqual([]);
  });

  test('a refusal is passed on at once [5.2.13]', async () => {
    await using daemon = await fakeDaemon(({ response }) =>
      sendFailure(response, 'conflict', 'calm-owl cannot answer'),
    );
    expect(await failure(ask(daemon.context, 'x?', { agentId: 'calm-owl' }))).toMatchObject({ exit: 4 });
  });
});

describe('listen [S3-80]', () => {
  const listening = (question: Partial<QuestionView>, json = false) =>
    fakeDaemon(({ response }) => sendStream(response, [{ event: 'question', data: { ...open, ...question } }]), {
      json,
    });

  test('prints the first question as one line of JSON', async () => {
    await using daemon = await listening({});
    expect(await listen(daemon.context, { agentId: 'calm-owl' })).toBe(0);
    expect(daemon.requests).toEqual(['GET /api/agents/calm-owl/questions']);
    expect(daemon.texts).toEqual([
      `{"conversationId":"${conversationId}","fromAgentId":"${idOf(1)}","question":"which port?"}`,
    ]);
  });

  test('with its task and phase, if it was asked by them', async () => {
    await using daemon = await listening({ taskId: idOf(8), phaseId: 'parsing', question: 'a\nb \u009B' });
    vi.stubEnv('PAWL_AGENT_ID', 'calm-owl');
    vi.stubEnv('PAWL_AGENT_TOKEN', 'its-token');
    await listen(daemon.context, {});
    expect(daemon.texts[0]).toBe(
      `{"conversationId":"${conversationId}","fromAgentId":"${idOf(1)}","question":"a\\nb \\u009b","phaseId":"parsing","taskId":"${idOf(8)}"}`,
    );
  });

  test('exits with 5 after its timeout, and with 2 without a recipient', async () => {
    await using daemon = await fakeDaemon(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': still here\n\n');
    });
    expect((await failure(listen(daemon.context, { agentId: 'calm-owl', timeout: 50 }))).exit).toBe(5);
    expect((await failure(listen(daemon.context, {}))).exit).toBe(2);
  });
});

test('answer prints the answer [S3-82]', async () => {
  const answered = { conversationId, status: 'answered' };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answered), { json: false });
  expect(await answer(daemon.context, 'port 8080', { conversationId })).toBe(0);
  expect(daemon.requests).toEqual([`POST /api/questions/${conversationId}/answer`]);
  expect(daemon.bodies).toEqual([{ answer: 'port 8080' }]);
  expect(daemon.texts).toEqual([`{"conversationId":"${conversationId}","status":"answered"}`]);
  expect((await failure(answer(daemon.context, ' ', { conversationId }))).exit).toBe(2);
});

describe('inbox', () => {
  const nothing: Inbox = { entries: [], items: [], changes: [], emergencies: [] };
  const item: InboxItem = {
    id: conversationId,
    kind: 'question',
    agent: { id: idOf(1), alias: 'brave-otter' },
    project: { id: idOf(900), alias: 'shop' },
    askedAt: 0,
    deadlineAt: null,
    questions: [{ id: conversationId, question: 'May I?\u001B[2J\u202E', leftOutBytes: 0 }],
    owner: null,
    choices: [],
  };

  test('lists the entries, and how to answer each kind', async () => {
    const items: InboxItem[] = [
      item,
      {
        ...item,
        kind: 'permission',
        deadlineAt: 1,
        choices: [
          { option: '--allow', does: 'Allows this one call.' },
          { option: '--always', does: 'Allows exactly the command “npm test”.\u001B[2J' },
        ],
      },
      {
        ...item,
        id: idOf(1),
        kind: 'questions',
        questions: [
          { id: 'a', question: 'A?', leftOutBytes: 0 },
          { id: 'b', question: 'B?', leftOutBytes: 0 },
        ],
      },
    ];
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { ...nothing, items }), { json: false });
    await inbox(daemon.context);
    const text = daemon.texts[0] ?? '';
    expect(text).toContain(`pawl reply ${conversationId} "…" | --not-now`);
    expect(text).toContain(`pawl reply ${conversationId} --allow   Allows this one call.\n`);
    expect(text).toMatch(/\n {2,}--always {2}Allows exactly the command “npm test”\./);
    expect(text).toContain('pawl reply brave-otter --answer <id>=<text> | --not-now');
    expect(text).toContain('[a] A?');
    expect(text).toContain('overdue');
    for (const hidden of ['\u001B', '\u202E']) expect(text).not.toContain(hidden);
  });

  const cut: InboxItem = {
    ...item,
    kind: 'permission',
    questions: [{ id: conversationId, question: 'May it use Bash? {"command":"echo …', leftOutBytes: 1_234 }],
  };
  const longDaemon = () =>
    fakeDaemon(
      ({ request, response }) =>
        request.url === '/api/inbox'
          ? sendJson(response, {
              ...nothing,
              items: [cut, { ...item, id: idOf(8), agent: { id: idOf(2), alias: 'calm-owl' } }],
            })
          : sendJson(response, {
              approval: {
                kind: 'command',
                tool: 'Bash',
                title: 'echo',
                detail: '{"command":"echo; rm -rf /"}',
                cwd: null,
                owner: null,
              },
            }),
      { json: false },
    );

  test('says how much of a long one is omitted, and how to see it', async () => {
    await using daemon = await longDaemon();
    await inbox(daemon.context);
    expect(daemon.texts[0]).toContain(`\n! 1234 bytes more are not shown here: pawl inbox ${conversationId}\n`);
  });

  test.each([conversationId, 'brave-otter', idOf(1)])('%s alone is shown whole', async (reference) => {
    await using daemon = await longDaemon();
    await inbox(daemon.context, reference);
    expect(daemon.requests).toEqual(['GET /api/inbox', `GET /api/approvals/${conversationId}`]);
    expect(daemon.texts[0]).toContain('rm -rf /');
    expect(daemon.texts[0]).not.toContain('not shown');
    expect(daemon.texts[0]).not.toContain('calm-owl');
  });

  test('an unknown name has no entries', async () => {
    await using daemon = await longDaemon();
    expect(await failure(inbox(daemon.context, 'nobody'))).toMatchObject({ exit: 3 });
  });

  test('shows a red main first, and changes that need a person last, with the next step [S4-07]', async () => {
    const findings = [{ kind: 'fewer-tests' as const, detail: 'fewer tests run: 8 before, 4 now' }];
    const change = changeView({
      state: 'needs-human-input',
      detail: findings[0]?.detail,
      findings,
      needsPerson: true,
      title: 'a\u001B[2Jb',
    });
    const emergency = {
      project: { id: idOf(900), alias: 'shop' },
      branch: 'main',
      commit: 'b'.repeat(40),
      checkId: idOf(5),
      since: 0,
      fixer: null,
      trouble: null,
      detail: 'exit code 1',
    };
    const about = { agent: change.author, project: { id: idOf(900), alias: 'shop' }, changes: [change.id] };
    const next = [`pawl change diff ${change.id}`, `pawl change approve ${change.id}`];
    const entries = [
      {
        kind: 'needs-human-input' as const,
        id: change.id,
        ...about,
        since: 0,
        text: change.title,
        detail: change.detail,
        next,
      },
    ];
    const all: Inbox = { entries, items: [item], changes: [change], emergencies: [emergency] };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, all), { json: false });
    await inbox(daemon.context);
    const [red = '', question = '', waiting = ''] = daemon.texts[0]?.split('\n\n') ?? [];
    expect(red).toMatch(
      /^EMERGENCY in shop: main is red at bbbbbbbbbb for \S+\n {2}exit code 1\n.*--fix\n {2}pawl queue log$/,
    );
    expect(question).toContain('pawl reply');
    expect(waiting.split('\n').slice(1)).toEqual([
      '  ab',
      '  fewer tests run: 8 before, 4 now',
      ...next.map((step) => `  ${step}`),
    ]);
    expect(waiting).toMatch(/^brave-otter in shop: needs-human-input, change \S{8}, /);
    for (const [reference, shown] of [
      [change.id, waiting],
      ['work/brave-otter', waiting],
      ['shop', red],
    ] as const) {
      await inbox(daemon.context, reference);
      expect(daemon.texts.at(-1)?.split('\n')[1]).toBe(shown.split('\n')[1]);
    }
  });

  test('says if there are none', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, nothing), { json: false });
    await inbox(daemon.context);
    expect(daemon.texts).toEqual(['nothing is waiting for you']);
  });
});

describe('reply', () => {
  const replied = () => fakeDaemon(({ response }) => sendJson(response, { agent: agentView() }));

  test.each([
    [['brave-otter', 'SQLite'], {}, { answer: 'SQLite' }],
    [['brave-otter'], { answer: { a: 'x' } }, { answers: { a: 'x' } }],
    [['brave-otter'], { notNow: true }, { notNow: true }],
    [[conversationId], { allow: true }, { allow: true }],
    [[conversationId, 'it is tracked'], { deny: true }, { allow: false, answer: 'it is tracked' }],
  ])('%j with %j', async (words, options, body) => {
    await using daemon = await replied();
    expect(await reply(daemon.context, words, options)).toBe(0);
    expect(daemon.requests).toEqual([`POST /api/agents/${words[0]}/reply`]);
    expect(daemon.bodies).toEqual([body]);
  });

  test.each([
    [['brave-otter'], {}],
    [['brave-otter', 'x'], { notNow: true }],
    [['brave-otter', 'x', 'y'], {}],
    [['brave-otter', 'x'], { answer: { a: 'x' } }],
    [['brave-otter'], { allow: true, answer: { a: 'x' } }],
  ])('%j with %j is an error', async (words, options) => {
    await using daemon = await replied();
    expect((await failure(reply(daemon.context, words, options))).exit).toBe(2);
    expect(daemon.requests).toEqual([]);
  });
});

test('a timeout has a unit, or is in seconds', () => {
  expect(['30s', '5m', '1.5h', '250ms', '7d', '30'].map(waitTime)).toEqual([
    30_000, 300_000, 5_400_000, 250, 604_800_000, 30_000,
  ]);
  for (const text of ['', '0', 'soon', '-1s', '8d', '5 m', '1e3s', '0x10'])
    expect(() => waitTime(text)).toThrow(PawlError);
});
