import { promptLimits } from '@pawl/core/prompts/prompt-limit';
import { writePrompt } from '@pawl/daemon/prompts/sent';
import type { AgentView } from '@pawl/protocol/agents/view';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
let agent: AgentView;
let sessionDirectory: string;
let input: string;
beforeAll(async () => {
  daemon = await startTestDaemon();
  agent = await daemon.work(['complete'], { task: 'tell me, {AGENT_NAME}' });
  await daemon.ended(agent.id);
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  sessionDirectory = sessions[0]?.directory ?? '';
  input = join(agent.worktree ?? '', '.pawl', 'input');
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('the prompt of an agent [W3-02]', () => {
  test('is shown by its alias or id', async () => {
    const shown = await daemon.client.agentPrompt(agent.alias);
    expect(shown).toMatchObject({ agentId: agent.id, session: { no: 1, purpose: 'work' }, truncated: false });
    expect(shown.system + shown.turn).toContain(`tell me, ${agent.alias}`);
    expect(await daemon.client.agentPrompt(agent.id.slice(0, 8), { session: 1 })).toEqual(shown);
  });

  test('is refused for a missing session', async () => {
    await expect(daemon.client.agentPrompt(agent.id, { session: 9 })).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('pawl inspect') as string,
    });
    await expect(daemon.client.agentPrompt('nobody')).rejects.toMatchObject({ code: 'agent_not_found' });
    await expect(daemon.client.agentPrompt(agent.id, { session: 0 })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is cut at a megabyte, with its full size', async () => {
    await writePrompt(sessionDirectory, { system: 'é'.repeat(400_000), turn: 'x'.repeat(900_000) });
    const shown = await daemon.client.agentPrompt(agent.id);
    expect(shown).toMatchObject({ bytes: 1_700_000, truncated: true, system: 'é'.repeat(400_000) });
    expect(shown.turn.length).toBe(promptLimits.shownPromptBytes - 800_000);
  });
});

describe('the input files of an agent [W3-02]', () => {
  test('are shown with their content', async () => {
    const { files, truncated } = await daemon.client.agentInputs(agent.alias);
    expect(truncated).toBe(false);
    expect(files.map(({ path }) => path)).toEqual(['manifest.json', 'task.md']);
    expect(files[1]).toEqual({
      path: 'task.md',
      bytes: agent.alias.length + 10,
      content: `tell me, ${agent.alias}\n`,
      binary: false,
      truncated: false,
    });
  });

  test('are bounded, distinguish text from binary, and are never read through a link', async () => {
    mkdirSync(join(input, 'context', 'tasks'), { recursive: true });
    writeFileSync(join(input, 'context', 'tasks', 'big.md'), '€'.repeat(400_000));
    writeFileSync(join(input, 'b.bin'), Buffer.from([1, 0, 2]));
    writeFileSync(join(input, 'c.bin'), Buffer.from([0xc3, 0x28]));
    symlinkSync(daemon.home.token, join(input, 'token.md'));
    const { files, truncated } = await daemon.client.agentInputs(agent.id);
    expect(truncated).toBe(true);
    expect(files.map(({ path }) => path)).toEqual([
      'b.bin',
      'c.bin',
      'context/tasks/big.md',
      'manifest.json',
      'task.md',
    ]);
    expect(files.map(({ binary }) => binary)).toEqual([true, true, false, false, false]);
    const shown = files.reduce((bytes, { content }) => bytes + Buffer.byteLength(content ?? ''), 0);
    expect(shown).toBeLessThanOrEqual(promptLimits.shownInputBytes);
    expect(files[2]).toMatchObject({ bytes: 1_200_000, truncated: true });
    expect(files[2]?.content).toMatch(/^€+$/);
  });

  test('are empty if they are somewhere else', async () => {
    rmSync(input, { recursive: true });
    symlinkSync(daemon.home.root, input);
    await expect(daemon.client.agentInputs(agent.id)).rejects.toMatchObject({ code: 'not_found' });
    rmSync(input);
    await expect(daemon.client.agentInputs(agent.id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
