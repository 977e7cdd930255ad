import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect } from 'vitest';
import { tryCli } from './capabilities.ts';
import type { RealWorkshop } from './workshop.ts';

const run = promisify(execFile);
const steps = '[[steps:[{"tool":{"name":"whoami"}},{"say":"Pawl said {result}."}]]]';

/** A person's own session, whose CLI knows of Pawl by `--mcp-config` only. */
async function asPerson({ home, repository, shell, server }: RealWorkshop): Promise<string> {
  const file = join(home, 'person-mcp.json');
  await writeFile(
    file,
    JSON.stringify({ mcpServers: { pawl: { command: join(home, 'bin', 'pawl'), args: ['mcp'] } } }),
  );
  const env = {
    ...shell,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'sk-test',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ENABLE_TOOL_SEARCH: 'false',
  };
  const words = ['-p', `${steps} Who am I?`, '--mcp-config', file, '--allowedTools', 'mcp__pawl__whoami'];
  const asking = run('claude', words, { env, cwd: repository });
  asking.child.stdin?.end();
  return (await asking).stdout;
}

/** An agent that may do nothing but read: what it says, and the tools that the model was offered. */
async function asReader(shop: RealWorkshop): Promise<{ id: string; said: string; offered: string[] }> {
  const place = join(shop.repository, '.pawl', 'agents');
  await mkdir(place, { recursive: true });
  const fields = 'name: reader\ndescription: reads\nkind: main\ntools: [Read, Grep, Glob]';
  await writeFile(join(place, 'reader.md'), `---\n${fields}\n---\nYou read.\n`);
  const { environment, provider } = shop.cli;
  const body = { path: shop.repository, task: `${steps} Who am I?`, definition: 'reader', provider, environment };
  const { agent } = await shop.client().work({ ...body, account: `first-${provider}` }, randomUUID());
  await shop.ended(agent.id);
  const events = (await shop.output(agent.id)).flatMap((chunk) => chunk.events ?? []);
  const said = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  const own = shop.server.requests.filter(({ tools }) => tools.includes('Read') && !tools.includes('Bash'));
  return { id: agent.id, said, offered: own.flatMap(({ tools }) => tools) };
}

/** Two sessions of a person in one checkout, with the hooks installed: what each of them printed. */
async function sharedCheckout(shop: RealWorkshop): Promise<{ first: string; second: string }> {
  const { home, repository, shell, server } = shop;
  await shop.pawl(['hooks', 'install']);
  const go = join(home, 'go');
  const env = {
    ...shell,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'sk-test',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    IS_SANDBOX: '1',
  };
  const session = (told: object[]) => {
    const prompt = `[[steps:${JSON.stringify(told)}]] Begin.`;
    const words = ['-p', prompt, '--dangerously-skip-permissions', '--output-format', 'stream-json', '--verbose'];
    const running = run('claude', words, { env, cwd: repository });
    running.child.stdin?.end();
    return running;
  };
  const waiting = { shell: `touch '${home}/begun'; while [ ! -e '${go}' ]; do sleep 0.1; done` };
  const first = session([waiting, { say: 'Done.' }]);
  await waitUntil(() => existsSync(join(home, 'begun')), { timeoutMs: 60_000, what: 'the first session to work' });
  const note = { shell: 'echo "I am $AI_AGENT_ID, $AI_HELPER"; pawl send primary "the lock file is stale"' };
  const second = (await session([note, { say: 'Done.' }])).stdout;
  await writeFile(go, '');
  return { first: (await first).stdout, second };
}

tryCli('claude', (add, shop) => {
  add('a second session in one checkout is a helper, and its note reaches the first', true, async () => {
    const { first, second } = await sharedCheckout(shop());
    expect(second).toContain('You are a helper.');
    expect(second).toMatch(/I am helper-[a-z0-9]{4}, 1/);
    expect(first).not.toContain('You are a helper.');
    expect(first).toContain('> the lock file is stale');
  });
  add('pawl mcp for a person, and for an agent that may only read', true, async () => {
    const [person, reader] = await Promise.all([asPerson(shop()), asReader(shop())]);
    expect(person).toContain('"caller":"person"');
    expect(reader.said).toContain(reader.id);
    expect(reader.offered).toContain('mcp__pawl__send');
    expect(reader.offered.filter((tool) => tool.startsWith('mcp__probe'))).toEqual([]);
  });
});
