import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { init } from '../../src/command/init.ts';
import { idOf } from '../agent-view.ts';
import { fakeDaemon, sendJson } from './fake-daemon.ts';

const project = { id: idOf(1), name: 'shop', root: '/code/shop', createdAt: 1 };
const file = '/code/shop/.pawl/config.yaml';
const found = [{ run: 'npm test', from: 'package.json' }];

test.each([
  [
    { file, found, outcome: 'written', reason: null },
    [
      'a change is merged when this passes:',
      '  npm test  (package.json)',
      `written to ${file}; look at it, and commit it`,
    ],
  ],
  [{ file, found, outcome: 'kept', reason: null }, [`its checks are named in ${file}`]],
  [
    { file, found: [], outcome: 'not-found', reason: null },
    [
      `nothing was found that checks it, so there is no ${file}`,
      'nothing is merged without checks: name them there, as in `checks: [make test]`',
    ],
  ],
  [
    { file, found, outcome: 'failed', reason: 'EROFS\u001b[2J' },
    [
      `${file} could not be written: EROFS`,
      '  npm test  (package.json)',
      'nothing is merged without checks: name them there, as in `checks: [make test]`',
    ],
  ],
])('it says what it found, and what is to be done: case %#', async (checks, lines) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { project, created: false, checks }), {
    json: false,
  });
  expect(await init(daemon.context, '.', {})).toBe(0);
  expect(daemon.bodies).toEqual([{ path: resolve('.'), checks: true }]);
  expect(daemon.texts[0]?.split('\n')).toEqual(['shop is a project already (/code/shop)', ...lines]);
});

test('--no-checks asks for none, and --json has everything', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { project, created: true, checks: null }));
  await init(daemon.context, '/code/shop', { name: 'shop', checks: false });
  expect(daemon.bodies).toEqual([{ path: '/code/shop', name: 'shop', checks: false }]);
  expect(daemon.printed).toEqual([{ kind: 'project', data: { ...project, created: true, checks: null } }]);
});
