import { messageOf } from '@pawl/schema/error';
import { parseArgs } from 'node:util';
import type { Measure } from './measure.ts';
import { ps, version } from './measure/command-line.ts';
import { commit } from './measure/commit.ts';
import { growth } from './measure/growth.ts';
import { history } from './measure/history.ts';
import { ingest } from './measure/ingest.ts';
import { killFamily } from './measure/kill-family.ts';
import { lineLatency } from './measure/line-latency.ts';
import { idle, restart } from './measure/live-agents.ts';
import { mail } from './measure/mail.ts';
import { mailDrain } from './measure/mail-drain.ts';
import { memory } from './measure/memory.ts';
import { queue } from './measure/queue.ts';
import { spawnMany } from './measure/spawn-many.ts';
import { spawn } from './measure/spawn.ts';
import type { Row } from './report.ts';
import { formatJson, formatTable } from './report.ts';

const measures: Measure[] = [
  version,
  ps,
  spawn,
  spawnMany,
  ingest,
  lineLatency,
  commit,
  growth,
  history,
  killFamily,
  mail,
  mailDrain,
  queue,
  memory,
  restart,
  idle,
];

const usage = `usage: npm run bench -- [--only NAME]... [--quick] [--json]
  measures: ${measures.map(({ name }) => name).join(', ')}`;

/** Runs the measures and prints one table. A missed aim is a finding, not a failure; a measure that cannot run is one. */
async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const unknown = options.only.find((name) => !measures.some((measure) => measure.name === name));
  if (options.help || unknown !== undefined) {
    process.stderr.write(`${unknown === undefined ? '' : `error: there is no measure ${unknown}\n`}${usage}\n`);
    return unknown === undefined ? 0 : 2;
  }
  // Node reads these certificates whenever it starts, which would be counted to every program.
  delete process.env['NODE_EXTRA_CA_CERTS'];
  const chosen = measures.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
  const rows: Row[] = [];
  const failures: { measure: string; reason: string }[] = [];
  for (const { name, run } of chosen) {
    const progress = (text: string) => void process.stderr.write(`${name}: ${text}\n`);
    progress('…');
    try {
      const found = await run({ quick: options.quick, progress });
      rows.push(...found);
      for (const row of found) progress(`${row.measure}: ${row.value.toFixed(2)} ${row.unit}`);
    } catch (error) {
      failures.push({ measure: name, reason: messageOf(error) });
      process.stderr.write(`${name}: could not run: ${error instanceof Error ? error.stack : String(error)}\n`);
    }
  }
  process.stdout.write(`${options.json ? formatJson(rows, failures) : formatTable(rows)}\n`);
  return failures.length === 0 ? 0 : 1;
}

process.exitCode = await main();
