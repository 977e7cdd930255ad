import { createAuthority } from '@pawl/daemon/platform/http/authority';
import { readFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { outputDifferences } from '../support/output.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

const key = 'sk-marked-0123456789-ABCDEFGH';
const shellKey = 'sk-shell-0123456789-ABCDEFGH';

/** Files below a directory that contain one of these texts. */
async function filesWith(root: string, ...texts: string[]): Promise<string[]> {
  const patterns = texts.flatMap((text) => ['-e', text]);
  try {
    const { stdout } = await promisify(execFile)('grep', ['-rlaF', ...patterns, root]);
    return stdout.trim().split('\n');
  } catch (error) {
    // It exits with 1 if it finds nothing.
    expect(error).toMatchObject({ code: 1 });
    return [];
  }
}

/** The output of an agent that prints each of these variables. */
async function printed(
  daemon: TestDaemon,
  variables: string[],
  { shell = 'true', ...body }: { shell?: string; account?: string; environment?: Record<string, string> },
): Promise<{ id: string; text: string }> {
  const commands = [shell, ...variables.map((name) => `echo "${name} is $${name}"; echo "${name} is $${name}" >&2`)];
  const agent = await daemon.work([{ shell: commands.join('; ') }, { say: 'that was it' }, 'complete'], body);
  expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
  const { chunks } = await daemon.client.output(agent.id, { format: 'raw' });
  expect(await outputDifferences(daemon.client, agent.id)).toEqual([]);
  return { id: agent.id, text: chunks.map(({ content }) => content ?? '').join('') };
}

test('the secrets that an agent prints are stored nowhere below the home except with the accounts [5.2.11, 8.49]', async () => {
  await using daemon = await startTestDaemon();
  await daemon.client.addAccount({ provider: 'scripted', name: 'lab', kind: 'api-key', secret: key });
  const first = await printed(daemon, ['SCRIPTED_API_KEY', 'PAWL_AGENT_TOKEN'], { account: 'lab' });
  expect(first.text).toContain(`SCRIPTED_API_KEY is ${'*'.repeat(key.length)}`);
  const second = await printed(daemon, ['SCRIPTED_API_KEY'], { environment: { SCRIPTED_API_KEY: shellKey } });
  expect(second.text).toContain(`SCRIPTED_API_KEY is ${'*'.repeat(shellKey.length)}`);
  // After a failover, a conversation may repeat the key of the account that it had before.
  const third = await printed(daemon, ['OTHER'], { account: 'lab', environment: {}, shell: `OTHER=${shellKey}` });
  expect(third.text).toContain(`OTHER is ${'*'.repeat(shellKey.length)}`);
  const authority = createAuthority(readFileSync(daemon.home.token, 'utf8').trim());
  const answers = [
    await daemon.client.listAccounts(),
    await daemon.client.inspectAgent(first.id),
    await daemon.client.history(first.id),
    await daemon.client.events(),
  ];
  const tokens = [authority.agentToken(first.id), authority.agentToken(second.id)];
  for (const secret of [key, shellKey, ...tokens]) expect(JSON.stringify(answers)).not.toContain(secret);
  await daemon.stop();
  const files = await filesWith(daemon.home.root, key, shellKey, ...tokens);
  expect(files.filter((path) => !path.startsWith(`${daemon.home.accounts}/`))).toEqual([]);
  expect(files.filter((path) => path.endsWith('/secret.json'))).toHaveLength(2);
});
