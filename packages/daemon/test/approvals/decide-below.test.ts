import type { AgentView } from '@pawl/protocol/agents/view';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { mcpOverHttp } from '../support/mcp.ts';
import { outputText } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
  const policy = ['Delegate', 'Approve'];
  daemon.define('decider', { kind: 'main', tools: ['*'], policy });
  daemon.define('reader', { kind: 'main', tools: ['Read'], toolGate: 'advisory', policy });
  daemon.define('chief', { kind: 'main', tools: ['*'], policy: ['Delegate'] });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** A supervisor at work, with a child that asks for this command. */
async function family(definition: string, command: string) {
  const above = await daemon.work(['hang'], { definition });
  await waitUntil(async () => (await viewOf(daemon.client, above.id)).activity === 'running', { what: 'it to run' });
  const scenario = await daemon.scenario([{ permit: { name: 'Bash', input: { command } } }, 'complete']);
  const body = { path: daemon.repository, provider: 'scripted', task: 'ask', access: 'ask' as const };
  const self = agentClient(daemon.home, above.id);
  const { agent: child } = await self.work({ ...body, options: { scenario } }, randomUUID());
  const item = async () => (await daemon.client.inbox()).items.find(({ agent }) => agent.id === child.id);
  await waitUntil(async () => (await item()) !== undefined, { what: 'the request' });
  return { above, self, child, request: (await item())?.id ?? '' };
}

async function decided(child: AgentView): Promise<string> {
  await daemon.ended(child.id);
  return outputText(daemon.client, child.id);
}

test('a supervisor with Approve is told of a child’s request, sees it and allows it, over MCP', async () => {
  const { above, child, request } = await family('decider', 'npm test');
  const { mails } = await daemon.client.listMail({ agent: above.id });
  expect(mails.map(({ body }) => body).join('\n')).toContain(
    `${child.alias} asks for approval, request ${request}: Bash: npm test`,
  );
  await using mcp = await mcpOverHttp(daemon, above.id);
  expect(await mcp.call('approval_list', {})).toMatchObject({
    approvals: [{ id: request, agent: { alias: child.alias }, tool: 'Bash', owner: null }],
  });
  expect(await mcp.call('approval_answer', { request, allow: true })).toMatchObject({ decision: 'allow' });
  expect(await decided(child)).toContain('1 allowed, 0 denied');
  expect((await daemon.client.showApproval(request)).approval).toMatchObject({ closedBy: above.id });
  // The person learns who was first.
  await expect(daemon.client.replyAgent(request, { allow: false }, randomUUID())).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(`allowed already, by ${above.alias}`) as string,
  });
});

test('a supervisor allows nothing that it may not do itself, and may deny it with a reason [S2-17]', async () => {
  const { above, self, child, request } = await family('reader', 'npm test');
  const refused = { code: 'forbidden', message: expect.stringContaining('does not allow Bash') as string };
  await expect(self.decideApproval(request, { allow: true })).rejects.toMatchObject(refused);
  await daemon.client.addRule({ effect: 'deny', match: 'command npm publish', agent: above.id });
  await self.decideApproval(request, { allow: false, reason: 'use npm run check' });
  expect(await decided(child)).toContain('0 allowed, 1 denied: use npm run check');
});

test('a rule that denies a supervisor a command keeps it from allowing that to others', async () => {
  const { above, self, child, request } = await family('decider', 'npm publish --tag next');
  await daemon.client.addRule({ effect: 'deny', match: 'command npm publish', agent: above.id });
  const denied = { code: 'forbidden', message: expect.stringContaining('denies it') as string };
  await expect(self.decideApproval(request, { allow: true })).rejects.toMatchObject(denied);
  await self.decideApproval(request, { allow: false });
  expect(await decided(child)).toContain('Your supervisor denied this.');
});

test('others are refused through every door: without Approve, not above the agent, and the agent itself [S2-17]', async () => {
  const { above, self, child, request } = await family('chief', 'npm test');
  const stranger = await daemon.work(['hang'], { definition: 'decider' });
  const needs = { code: 'forbidden', message: expect.stringContaining('needs Approve') as string };
  for (const client of [self, agentClient(daemon.home, child.id)]) {
    await expect(client.decideApproval(request, { allow: true })).rejects.toMatchObject(needs);
    await expect(client.listApprovals()).rejects.toMatchObject(needs);
    await expect(client.replyAgent(request, { allow: true }, randomUUID())).rejects.toMatchObject({
      code: 'forbidden',
    });
  }
  const other = agentClient(daemon.home, stranger.id);
  const notBelow = { code: 'forbidden', message: expect.stringContaining('not of an agent below') as string };
  await expect(other.decideApproval(request, { allow: true })).rejects.toMatchObject(notBelow);
  await expect(other.showApproval(request)).rejects.toMatchObject(notBelow);
  expect(await other.listApprovals()).toEqual({ approvals: [] });
  await using mcp = await mcpOverHttp(daemon, above.id);
  const { tools } = await mcp.client.listTools();
  expect(tools.map(({ name }) => name).filter((name) => name.startsWith('approval'))).toEqual([]);
  expect((await daemon.client.showApproval(request)).approval.decision).toBeNull();
  await daemon.client.decideApproval(request, { allow: false, reason: 'no' });
  expect(await decided(child)).toContain('1 denied: no');
});
