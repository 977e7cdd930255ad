import { messageOf } from '@pawl/schema/error';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { comparison, readBaseline, saveBaseline } from './baseline.ts';
import type { Measure } from './measure.ts';
import { ps, version } from './measure/command-line.ts';
import { commit } from './measure/commit.ts';
import { engineMany } from './measure/engine-many.ts';
import { engineStart } from './measure/engine-start.ts';
import { firstToken } from './measure/first-token.ts';
import { growth } from './measure/growth.ts';
import { history } from './measure/history.ts';
import { ingest } from './measure/ingest.ts';
import { killFamily } from './measure/kill-family.ts';
import { lineLatency } from './measure/line-latency.ts';
import { idle, restart } from './measure/live-agents.ts';
import { mail } from './measure/mail.ts';
import { mailDrain } from './measure/mail-drain.ts';
import { memory } from './measure/memory.ts';
import { planner } from './measure/planner.ts';
import { queue } from './measure/queue.ts';
import { sandbox } from './measure/sandbox.ts';
import { spawnMany } from './measure/spawn-many.ts';
import { spawn } from './measure/spawn.ts';
import { closePlaces } from './place.ts';
import type { Row } from './report.ts';
import { formatJson, formatTable } from './report.ts';
import { within } from './time-limit.ts';

const defaultLimitSeconds = 240;

const measures: Measure[] = [
  version,
  ps,
  spawn,
  sandbox,
  spawnMany,
  ingest,
  lineLatency,
  firstToken,
  engineStart,
  engineMany,
  commit,
  growth,
  history,
  killFamily,
  mail,
  mailDrain,
  queue,
  planner,
  memory,
  restart,
  idle,
];

const usage = `usage: npm run bench -- [--only NAME]... [--quick] [--json] [--limit SECONDS] [--save]
  --limit SECONDS  how long one measure may take (${defaultLimitSeconds})
  --save           write the figures to bench/baseline.json, which later runs are compared with
  measures: ${measures.map(({ name }) => name).join(', ')}`;

/**
 * Runs the measures and prints one table. A missed goal is a finding, not a failure. A measure that fails or takes too
 * long is a failure: it is named below the table, and the others still run.
 */
async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      limit: { type: 'string', default: String(defaultLimitSeconds) },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const unknown = options.only.find((name) => !measures.some((measure) => measure.name === name));
  const limitSeconds = Number(options.limit);
  const wrong =
    unknown !== undefined
      ? `there is no measure ${unknown}`
      : Number.isInteger(limitSeconds) && limitSeconds > 0
        ? null
        : `--limit takes a number of seconds, not ${options.limit}`;
  if (options.help || wrong !== null) {
    process.stderr.write(`${wrong === null ? '' : `error: ${wrong}\n`}${usage}\n`);
    return wrong === null ? 0 : 2;
  }
  // Node reads these certificates at every start, which would count for every program.
  delete process.env['NODE_EXTRA_CA_CERTS'];
  const chosen = measures.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
  const rows: Row[] = [];
  const failures: { measure: string; reason: string }[] = [];
  for (const { name, run } of chosen) {
    let step = 'starting';
    const progress = (text: string) => {
      step = text;
      process.stderr.write(`${name}: ${text}\n`);
    };
    progress('…');
    try {
      const late = () => `not done after ${limitSeconds} s; last step: ${step}`;
      const found = await within(limitSeconds * 1_000, late, run({ quick: options.quick, progress }));
      rows.push(...found);
      for (const row of found) progress(`${row.measure}: ${row.value.toFixed(2)} ${row.unit}`);
    } catch (error) {
      failures.push({ measure: name, reason: messageOf(error) });
      process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
      await closePlaces();
    }
  }
  const baseline = readBaseline();
  const compare = (row: Row) => comparison(row, baseline);
  const table = options.json ? formatJson(rows, failures, compare) : formatTable(rows, compare);
  process.stdout.write(`${table}\n`);
  if (!options.json) for (const { measure, reason } of failures) process.stdout.write(`FAILED ${measure}: ${reason}\n`);
  if (options.save) saveBaseline(rows, { version: packageJson.version, cores: availableParallelism() });
  return failures.length === 0 ? 0 : 1;
}

// A measure that took too long may still hold timers and sockets.
process.exit(await main());
