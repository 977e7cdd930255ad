import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitUntil } from '../../src/wait-until.ts';
import { stage, userTurn } from './agent-process.ts';

const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a15';
const live = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--replay-user-messages'];
const uuid = (number: number) => `0000000${number}-1111-4111-8111-111111111111`;
const letter = (mailId: string) =>
  `<mail>\nWhat follows was sent to you.\n\n<letter id="${mailId}" from="calm-owl">\nHello\n</letter>\n</mail>`;

test.each([
  ['sleeps', { sleep: '1h' }],
  ['hangs', 'hang'],
  ['runs a command', { shell: 'exec sleep 300' }],
  ['calls a tool', { tool: { name: 'Build', takes: '1h' } }],
  ['speaks slowly', { stream: { text: 'so slow', for: '1h', pieces: 2 } }],
])('an agent that %s reads a line at once, and a resumed process knows it', async (_, step) => {
  await using on = await stage();
  const file = join(on.state, `${id}.json`);
  const scenario = await on.scenario([{ say: 'busy' }, step, { say: 'never' }]);
  {
    await using agent = on.start([...live, '--session-id', id, '--scenario', scenario]);
    agent.child.stdin.write(userTurn('Begin'));
    await agent.untilSaid('busy');
    agent.child.stdin.write(userTurn('one thing more', { uuid: uuid(1) }));
    await agent.untilEchoed(2);
    // What is shown is stored.
    expect(readFileSync(file, 'utf8')).toContain('one thing more');
    expect(agent.echoes).toEqual([
      ['Begin', undefined],
      ['one thing more', uuid(1)],
    ]);
    expect(agent.results).toEqual([]);
    // The shell's command must not outlive a process that is killed.
    agent.child.kill('SIGTERM');
    await agent.exited;
  }
  const other = await on.scenario(['recall', 'recall', 'recall'], 'recall.json');
  await using resumed = on.start([...live, '--resume', id, '--scenario', other]);
  resumed.child.stdin.end(userTurn('Go on'));
  await resumed.exited;
  expect(resumed.said[0]).toBe('Begin\none thing more\nGo on');
});

test('a line that was read early is the next turn, shown and counted once', async () => {
  await using on = await stage();
  const gate = join(on.directory, 'go');
  const steps = [
    { say: 'busy' },
    { shell: 'while ! test -e go; do sleep 0.01; done' },
    'wait',
    { say: '{turns} {prompt}' },
    'wait',
    { say: '{turns} {prompt}' },
  ];
  await using agent = on.start([...live, '--scenario', await on.scenario(steps)]);
  agent.child.stdin.write(userTurn('Begin'));
  await agent.untilSaid('busy');
  agent.child.stdin.end(userTurn('a', { uuid: uuid(1) }) + userTurn('b', { uuid: uuid(2) }));
  await agent.untilEchoed(3);
  expect(agent.results).toEqual([]);
  writeFileSync(gate, '');
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.said).toEqual(['busy', '3 a', '3 b']);
  expect(agent.echoes.map(([text]) => text)).toEqual(['Begin', 'a', 'b']);
});

test('a line with a known id is dropped, in the same process and in the next, which shows it once [fault 3]', async () => {
  await using on = await stage();
  const scenario = await on.scenario(['hang']);
  {
    await using agent = on.start([...live, '--session-id', id, '--scenario', scenario]);
    agent.child.stdin.write(userTurn('Begin') + userTurn(letter('m1'), { uuid: uuid(1) }));
    agent.child.stdin.write(userTurn(letter('m1'), { uuid: uuid(1) }) + userTurn(letter('m2'), { uuid: uuid(2) }));
    await agent.untilEchoed(3);
    expect(agent.echoes.map(([, name]) => name)).toEqual([undefined, uuid(1), uuid(2)]);
    agent.child.kill('SIGKILL');
    await agent.exited;
  }
  const next = await on.scenario([{ say: '{turns}' }, 'wait', 'inbox', { say: '{prompt}' }], 'next.json');
  await using resumed = on.start([...live, '--resume', id, '--scenario', next]);
  resumed.child.stdin.write(userTurn('Go on'));
  await waitUntil(() => resumed.results.length === 1, { what: 'the end of the turn' });
  resumed.child.stdin.end(
    userTurn(letter('m2'), { uuid: uuid(2) }) +
      userTurn(letter('m2'), { uuid: uuid(2) }) +
      userTurn(`Again\n${letter('m3')}\n${letter('m1')}`),
  );
  expect(await resumed.exited).toEqual([0, null]);
  expect(resumed.echoes.map(([, name]) => name)).toEqual([undefined, uuid(2), undefined]);
  // Handed over again under another name, a mail is handed over twice, and that is told.
  expect(resumed.said).toEqual(['4', 'm1\nm2\nm3\nm1', 'Again']);
});

test('steps that never wait read a line, too', async () => {
  await using on = await stage();
  const scenario = await on.scenario([{ repeat: { times: 50_000, steps: [{ say: 'x' }] } }]);
  await using agent = on.start([...live, '--session-id', id, '--scenario', scenario]);
  agent.child.stdin.write(userTurn('Begin'));
  await agent.untilSaid('x');
  agent.child.stdin.write(userTurn('listen', { uuid: uuid(1) }));
  await agent.untilEchoed(2);
  expect(agent.results).toEqual([]);
});

test('nothing is shown without a request', async () => {
  await using on = await stage();
  const agent = on.start([...live.slice(0, -1), '--scenario', await on.scenario([{ say: 'a' }])]);
  agent.child.stdin.end(userTurn('Begin', { uuid: uuid(1) }));
  await agent.exited;
  expect(agent.echoes).toEqual([]);
});

test('a line that cannot be stored ends the process with an error, and is not shown', async () => {
  await using on = await stage();
  await using agent = on.start([
    ...live,
    '--session-id',
    id,
    '--scenario',
    await on.scenario([{ say: 'busy' }, 'hang']),
  ]);
  agent.child.stdin.write(userTurn('Begin'));
  await agent.untilSaid('busy');
  // It stores what it said just now, and may do so between the two.
  await waitUntil(
    () => {
      rmSync(on.state, { recursive: true, force: true });
      writeFileSync(on.state, 'no directory any more');
      return true;
    },
    { what: 'the state to be no directory' },
  );
  agent.child.stdin.write(userTurn('lost?', { uuid: uuid(1) }));
  expect(await agent.exited).toEqual([1, null]);
  expect(agent.echoes).toHaveLength(1);
  expect(agent.results).toHaveLength(1);
  rmSync(on.state);
});
