import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { addRule, listRules, removeRule } from '../../../src/command/projects/rules.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const now = 1_700_000_000_000;
const rule = {
  id: `R${'1'.repeat(21)}` as string | null,
  scope: 'project',
  effect: 'allow',
  match: 'command npm test',
  does: 'Allows exactly the command “npm test”.',
  project: 'shop' as string | null,
  agent: null as string | null,
  counts: true,
  madeBy: 'person',
  requestId: null,
  createdAt: now - 60_000,
  usedAt: null as number | null,
  revokedAt: null,
};

test('rules ls shows scope, source and last use', async () => {
  const rules = [
    rule,
    { ...rule, scope: 'user', effect: 'deny', match: 'command rm', project: null, usedAt: now - 5_000 },
    { ...rule, id: null, counts: false, madeBy: '.pawl/config.yaml' },
    { ...rule, scope: 'session', agent: 'calm-otter', madeBy: 'kind-heron' },
  ];
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { rules, trouble: 'line 3' }), {
    json: false,
  });
  expect(await listRules(daemon.context, now)).toBe(0);
  expect(daemon.requests).toEqual([`GET /api/rules?path=${encodeURIComponent(resolve('.'))}`]);
  expect(daemon.said).toEqual(['some rules cannot be read, so none allows anything: line 3']);
  const [text = ''] = daemon.texts;
  expect(text).toMatch(/R1111111 +allow +project shop +person +never +command npm test/);
  expect(text).toMatch(/R1111111 +deny +everything +person +5.0s ago +command rm/);
  expect(text).toMatch(/- +not trusted +project shop +.pawl\/config.yaml +never +command npm test/);
  expect(text).toMatch(/session of calm-otter +kind-heron +never +command npm test/);
});

test.each([
  [{ allow: 'command npm test' }, { effect: 'allow', match: 'command npm test' }],
  [
    { deny: 'command rm', agent: 'calm-otter' },
    { effect: 'deny', match: 'command rm', agent: 'calm-otter' },
  ],
  [
    { allow: 'tool Read', project: true as const },
    { effect: 'allow', match: 'tool Read', path: resolve('.') },
  ],
  [
    { allow: 'tool Read', project: 'shop' },
    { effect: 'allow', match: 'tool Read', project: 'shop' },
  ],
])('rules add %j', async (options, body) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { rule }), { json: false });
  expect(await addRule(daemon.context, options)).toBe(0);
  expect(daemon.bodies).toEqual([body]);
  expect(daemon.texts).toEqual([`${rule.does}\nremove it with: pawl rules rm R1111111`]);
});

test('rules add needs exactly one rule', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { rule }), { json: false });
  for (const options of [{}, { allow: 'command a', deny: 'command b' }])
    await expect(addRule(daemon.context, options)).rejects.toMatchObject({ code: 'usage' });
  expect(daemon.requests).toEqual([]);
});

test('rules rm names the removed rule', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { rule }), { json: false });
  expect(await removeRule(daemon.context, 'R111')).toBe(0);
  expect(daemon.requests).toEqual(['POST /api/rules/R111/revoke']);
  expect(daemon.texts).toEqual(['removed the rule “command npm test”']);
});
