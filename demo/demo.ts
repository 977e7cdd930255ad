import type { Client } from '@pawl/protocol/client';
import { createClient } from '@pawl/protocol/client';
import { homeAt } from '@pawl/protocol/home';
import type { AgentView } from '@pawl/protocol/view';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { duration, tokens } from '@pawl/cli/format';
import { palette, printableLine, table } from '@pawl/cli/terminal';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const colours = palette(process.stdout);
const say = (text = '') => process.stdout.write(`${text}\n`);

const tasks = [
  { task: 'Let the greeting use the name it is given', scenario: 'greeting' },
  { task: 'Write tests for the sum', scenario: 'tests' },
  { task: 'Say in the README how to run the tests', scenario: 'readme' },
];

const files = {
  'README.md': '# Sample\n\nA tiny program that greets and adds.\n',
  'package.json': '{"name":"sample","type":"module"}\n',
  'src/greet.js': "export const greet = () => 'Hello!';\n",
  'src/sum.js': 'export const sum = (...numbers) => numbers.reduce((total, number) => total + number, 0);\n',
};

/** Runs the command line as a person would, and shows what was typed. */
function pawl(home: string, repository: string, words: string[]): string {
  say(
    `${colours.dim('$')} ${colours.bold(`pawl ${words.map((word) => (/[ "]/.test(word) ? JSON.stringify(word) : word)).join(' ')}`)}`,
  );
  const shown = words.map((word) => word.replace(/^demo\//, `${root}/demo/`));
  const env = { ...process.env, PAWL_HOME: home };
  return execFileSync(join(root, 'dist', 'pawl.mjs'), shown, { cwd: repository, env, encoding: 'utf8' });
}

/** Shows one agent's doings as they happen, each line with its name in front. */
async function watch(
  client: Client,
  agent: AgentView,
  paint: (text: string) => string,
  nameColumns: number,
): Promise<void> {
  const name = paint(agent.alias.padEnd(nameColumns));
  for await (const message of client.followOutput(agent.id, { format: 'events' })) {
    if (message.type === 'ended') return;
    for (const event of message.chunk.events ?? []) {
      const line = describe(event);
      if (line !== null) say(`${name} ${line}`);
    }
  }
}

function describe(event: StreamEvent): string | null {
  if (event.type === 'text') return printableLine(event.text);
  if (event.type === 'thinking') return colours.dim(printableLine(event.text));
  if (event.type === 'tool-call')
    return `${colours.cyan('▸')} ${event.name} ${colours.dim(printableLine(event.input).slice(0, 70))}`;
  if (event.type === 'result')
    return event.ok ? colours.green('■ done') : colours.red(`■ ${printableLine(event.text)}`);
  return null;
}

async function main(workplace: string): Promise<number> {
  const home = join(workplace, 'home');
  const repository = join(workplace, 'sample');
  mkdirSync(repository);
  await sampleRepository(repository, { files });
  say(`A sample repository with three things to do, and an empty home for Pawl.\n`);
  say(pawl(home, repository, ['up']).trimEnd());
  say(pawl(home, repository, ['init']).split('\n', 1)[0]);
  for (const { task, scenario } of tasks) {
    const answer = pawl(home, repository, [
      'work',
      task,
      '--provider',
      'scripted',
      '--scenario',
      `demo/scenarios/${scenario}.yaml`,
    ]);
    say(answer.split('\n', 1)[0]);
  }
  say();
  const client = createClient(homeAt(home));
  const { agents } = await client.listAgents();
  const paints = [colours.cyan, colours.yellow, colours.green];
  const nameColumns = Math.max(...agents.map((agent) => agent.alias.length));
  await Promise.all(
    agents.toReversed().map((agent, index) => watch(client, agent, paints[index % 3] ?? String, nameColumns)),
  );
  say();
  const done = await Promise.all(agents.toReversed().map((agent) => client.inspectAgent(agent.id)));
  const columns = ['AGENT', 'STATE', 'BRANCH', 'COMMITS', 'TIME', 'TOKENS', 'RESULT'].map((title) => ({
    title,
    flexible: title === 'RESULT',
  }));
  const rows = done.map(({ agent, worktree }) => [
    { text: agent.alias, paint: colours.bold },
    { text: agent.run?.status ?? '-', paint: agent.run?.status === 'completed' ? colours.green : colours.red },
    agent.branch ?? '-',
    String(worktree?.commits ?? 0),
    duration((agent.run?.endedAt ?? 0) - (agent.run?.startedAt ?? 0)),
    tokens(agent.usage.inputTokens + agent.usage.outputTokens),
    agent.run?.detail ?? '',
  ]);
  say(table(columns, rows, colours, process.stdout.columns ?? 120));
  say();
  say(pawl(home, repository, ['down']).trimEnd());
  return done.every(({ agent }) => agent.run?.status === 'completed') ? 0 : 1;
}

const workplace = mkdtempSync(join(tmpdir(), 'pawl-demo-'));
try {
  process.exitCode = await main(workplace);
} finally {
  try {
    execFileSync(join(root, 'dist', 'pawl.mjs'), ['down', '--quiet'], {
      env: { ...process.env, PAWL_HOME: join(workplace, 'home') },
    });
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}
