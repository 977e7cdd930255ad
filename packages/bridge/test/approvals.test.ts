import { expect, test } from 'vitest';
import { Approvals } from '../src/approvals.ts';
import { codexDecision, codexRequest } from '../src/codex/codex-approval.ts';
import { bridgeLimits } from '../src/limit.ts';

function approvals() {
  const asked: string[] = [];
  const cancelled: string[] = [];
  const writer = {
    ask: ({ requestId }: { requestId: string }) => void asked.push(requestId),
    cancelAsk: (requestId: string) => void cancelled.push(requestId),
  };
  return { asked, cancelled, approvals: new Approvals(writer) };
}

test('the first answer counts; others, and those for no request, change nothing', async () => {
  const { asked, approvals: open } = approvals();
  const answer = open.ask({ tool: 'Bash', input: {} });
  const [requestId = ''] = asked;
  open.answer({ requestId: 'another', allowed: true, reason: '' });
  open.answer({ requestId, allowed: false, reason: 'no' });
  open.answer({ requestId, allowed: true, reason: '' });
  expect(await answer).toMatchObject({ allowed: false, reason: 'no' });
});

test('a request that the agent settles itself is withdrawn, and denied', async () => {
  const { asked, cancelled, approvals: open } = approvals();
  const [one, other] = [open.ask({ tool: 'Bash', input: {} }, 0), open.ask({ tool: 'Bash', input: {} }, 1)];
  open.withdraw(1);
  expect(cancelled).toEqual([asked[1]]);
  expect(await other).toMatchObject({ allowed: false });
  open.withdraw();
  expect(await one).toMatchObject({ allowed: false });
});

test('more requests than may wait are denied at once', async () => {
  const { asked, approvals: open } = approvals();
  for (let index = 0; index < bridgeLimits.pendingRequests; index++) void open.ask({ tool: 'Bash', input: {} });
  expect(await open.ask({ tool: 'Bash', input: {} })).toMatchObject({ allowed: false });
  expect(asked).toHaveLength(bridgeLimits.pendingRequests);
});

test.each([
  ["/bin/bash -lc 'npm test'", 'npm test'],
  ['/bin/bash -lc "npm test"', 'npm test'],
  // Whatever could hide a part is shown as it is.
  ["/bin/bash -lc 'npm test' extra", "/bin/bash -lc 'npm test' extra"],
  ['/bin/bash -lc "echo $(id)"', '/bin/bash -lc "echo $(id)"'],
  ["bash -lc 'a'; rm -r 'b'", "bash -lc 'a'; rm -r 'b'"],
])('the command %s of Codex is shown as %s', (command, shown) => {
  const method = 'item/commandExecution/requestApproval';
  expect(codexRequest(method, { command, cwd: '/w' })).toMatchObject({ input: { command: shown }, cwd: '/w' });
  const answer = { requestId: 'x', reason: '' };
  expect(codexDecision(method, {}, { ...answer, allowed: true })).toEqual({ decision: 'accept' });
  expect(codexDecision(method, {}, { ...answer, allowed: false })).toEqual({ decision: 'decline' });
});
