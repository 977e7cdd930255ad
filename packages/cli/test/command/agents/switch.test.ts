import { expect, test } from 'vitest';
import { separator, switchTo } from '../../../src/command/agents/switch.ts';
import { palette } from '../../../src/terminal/palette.ts';
import { agentView, idOf, root } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const neighbour = (alias: string) => ({ id: idOf(5), alias });
const selection = {
  current: agentView(),
  parent: neighbour('root'),
  previous: neighbour('calm-fox'),
  next: neighbour('wise-owl'),
  child: null,
  draft: { input: '', scroll: 0 },
};

test('the separator names the neighbours, with - if there is none [W1-24]', () => {
  expect(separator(selection, palette({}))).toBe('↑root ←calm-fox [brave-otter] →wise-owl ↓-');
  const alone = { ...selection, current: root, parent: null, previous: null, next: null };
  expect(separator(alone, palette({}))).toBe('↑- ←- [root] →- ↓-');
});

test('a name switches, and shows the draft there [S1-12]', async () => {
  const waiting = { ...selection, draft: { input: 'half a\nsentence\u001B[2J', scroll: 3 } };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, waiting), { json: false });
  expect(await switchTo(daemon.context, 'next')).toBe(0);
  expect(daemon.requests).toEqual(['POST /api/desk']);
  expect(daemon.bodies).toEqual([{ to: 'next' }]);
  expect(daemon.texts).toEqual(['↑root ←calm-fox [brave-otter] →wise-owl ↓-\ndraft: half a sentence']);
});

test('without a name it only shows the current agent [S1-12]', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, selection));
  await switchTo(daemon.context, undefined);
  expect(daemon.requests).toEqual(['GET /api/desk']);
  expect(daemon.printed).toEqual([{ kind: 'desk', data: selection }]);
});
