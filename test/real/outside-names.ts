/**
 * Lets one CLI work with the key of a person's shell, and prints as JSON how that ended and which outside names were asked for.
 * To be run in a network namespace of its own, in which 127.0.0.1 is the name server.
 */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { realClis, shellKey } from './clis.ts';
import { recordNames } from './name-recorder.ts';
import { openWorkshop } from './workshop.ts';

const [name = ''] = process.argv.slice(2);
const cli = realClis[name];
if (cli === undefined) throw new Error(`there is no CLI ${name}`);
const recorder = await recordNames();
const shop = await openWorkshop(name, cli, (server) => {
  const shell = cli.shell(server);
  if (typeof shell === 'string') throw new Error(shell);
  return shell;
});
try {
  const model = cli.model === null ? [] : ['--model', cli.model];
  const task = '[[steps:[{"shell":"env > env.txt"},{"signal":{"status":"done"}},{"say":"Done."}]]] Look around.';
  // Pawl does not know the server in this CLI's own settings, and a sandbox reaches a local service only by a rule.
  if (cli.shellKeyAt === 'session')
    await shop.pawl(['rules', 'add', '--allow', `network ${new URL(shop.server.url).host}`]);
  const work = ['work', task, '--provider', cli.provider, ...model, '--json'];
  const answer = JSON.parse(await shop.pawl(work)) as { data: { id: string } };
  const { run, account } = await shop.ended(answer.data.id);
  const { key } = await shop.client().inspectAgent(answer.data.id);
  // Its environment is in a file in its worktree, unmasked: a tool of the model wrote it. Its output is below the home.
  const words = ['-rlaF', shellKey, dirname(shop.home), '--exclude-dir=accounts'];
  const keyIn = spawnSync('grep', words, { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((path) => path !== '');
  const [calls, names] = [shop.server.requests.length, [...recorder.names]];
  process.stdout.write(
    `${JSON.stringify({ status: run?.status, detail: run?.detail, account, calls, names, key, keyIn })}\n`,
  );
} finally {
  await shop.close();
  await recorder.close();
}
