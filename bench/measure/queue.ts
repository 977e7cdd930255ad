import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Measure } from '../measure.ts';
import { makePlace } from '../place.ts';
import type { Row } from '../report.ts';

const changes = 16;
const checkSeconds = 2;

/** The number of checks and the time for 16 changes at once, all good, and with a bad one among them. */
export const queue: Measure = {
  name: 'queue',
  async run({ quick, progress }) {
    const seconds = quick ? 0.2 : checkSeconds;
    return [
      ...(await measure(null, seconds, { most: 3, progress })),
      ...(await measure(6, seconds, { most: 7, progress })),
    ];
  },
};

async function measure(
  bad: number | null,
  seconds: number,
  { most, progress }: { most: number; progress(text: string): void },
): Promise<Row[]> {
  await using place = await makePlace();
  await place.startDaemon();
  await place.addRepository(10);
  const { client, repository } = place;
  const runs = join(place.path, 'runs');
  mkdirSync(join(repository, '.pawl'), { recursive: true });
  const run = `echo run >> '${runs}'; sleep ${seconds}; echo checked; test ! -e bad.txt`;
  writeFileSync(
    join(repository, '.pawl', 'config.yaml'),
    `checks:\n  - run: ${JSON.stringify(run)}\nqueue: { auto: true }\n`,
  );
  await commitAll(repository, 'the checks');
  // The first check of a project is main's own; measure what follows.
  await client.checkQueue({ path: repository });
  const isGreen = async () => (await client.listQueues()).queues.some(({ green }) => green !== null);
  await waitUntil(isGreen, { what: 'main to be green' });
  writeFileSync(runs, '');
  await client.pauseQueue({ path: repository });
  const ids: string[] = [];
  for (let number = 1; number <= changes; number++) {
    const branch = `work/change-${number}`;
    await git(repository, ['checkout', '--quiet', '-b', branch, 'main']);
    writeFileSync(join(repository, number === bad ? 'bad.txt' : `change-${number}.txt`), `${number}\n`);
    await commitAll(repository, branch);
    ids.push((await client.openChange({ path: repository, branch })).change.id);
  }
  await git(repository, ['checkout', '--quiet', 'main']);
  progress(`${changes} changes are open`);
  const begin = performance.now();
  await client.resumeQueue({ path: repository });
  const settled = async () => {
    const states = await Promise.all(ids.map(async (id) => (await client.showChange(id)).change.state));
    return states.every((state) => state === 'merged' || state === 'ejected') ? states : null;
  };
  const states = await waitUntil(settled, { timeoutMs: 120_000, what: 'the queue to be empty' });
  const elapsed = (performance.now() - begin) / 1000;
  const out = states.flatMap((state, index) => (state === 'ejected' ? [index + 1] : []));
  if (JSON.stringify(out) !== JSON.stringify(bad === null ? [] : [bad])) throw new Error(`put out: ${out.join(', ')}`);
  const rounds = readFileSync(runs, 'utf8').split('\n').length - 1;
  const what = bad === null ? `${changes} good changes` : `${changes} changes, one bad`;
  return [
    {
      measure: `${what}: checks`,
      value: rounds,
      unit: 'checks',
      floor: 1,
      aims: [{ of: 'value', atMost: most }],
      note: 'floor: one check',
    },
    {
      measure: `${what}: on main`,
      value: elapsed,
      unit: 's',
      floor: seconds,
      aims: [],
      note: `floor: one check of ${seconds} s`,
    },
  ];
}

async function commitAll(repository: string, message: string): Promise<void> {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid'];
  await git(repository, ['add', '--all']);
  await git(repository, [...identity, 'commit', '--quiet', '-m', message]);
}
