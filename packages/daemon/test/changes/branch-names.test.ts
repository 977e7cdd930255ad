import { programs } from '@pawl/protocol/node/programs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeBranches, startQuietDaemon } from '../support/change.ts';
import { mcpOverHttp } from '../support/mcp.ts';

const names = ['fix#12', 'user@x', 'ünï', 'a%2Fb', 'what&why=1', "it's/q!", '日本/語'];

test('a branch with any valid name can be proposed and found, by HTTP, the command line and MCP', async () => {
  await using daemon = await startQuietDaemon();
  await makeBranches(daemon.repository, names);
  const pawl = async (...words: string[]) => {
    const env = { PATH: process.env['PATH'], PAWL_HOME: daemon.home.root };
    const run = promisify(execFile)(process.execPath, [programs.pawl, ...words, '--json'], {
      env,
      cwd: daemon.repository,
    });
    return (JSON.parse((await run).stdout) as { data: { change: { id: string; branch: string } } }).data.change;
  };
  await using mcp = await mcpOverHttp(daemon, null);
  for (const [index, branch] of names.entries()) {
    const byCommand = index % 2 === 0;
    const opened = byCommand
      ? await pawl('change', 'open', branch, '--draft')
      : (await daemon.client.openChange({ path: daemon.repository, branch, draft: true })).change;
    expect(opened.branch).toBe(branch);
    expect((await daemon.client.showChange(branch)).change.id).toBe(opened.id);
    expect((await pawl('change', 'show', branch)).id).toBe(opened.id);
    expect(JSON.stringify(await mcp.call('change_show', { change: branch }))).toContain(opened.id);
    expect((await daemon.client.diffChange(branch)).branch).toBe(branch);
  }
});

test('an invalid branch name is refused with the reason', async () => {
  await using daemon = await startQuietDaemon();
  for (const branch of ['-x', 'a..b', 'a b', 'a~1', 'x.lock'])
    await expect(daemon.client.openChange({ path: daemon.repository, branch })).rejects.toMatchObject({
      code: 'invalid_input',
    });
});
