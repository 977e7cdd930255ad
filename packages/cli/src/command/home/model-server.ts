import { programs } from '@pawl/protocol/node/programs';
import type { ErrorCode } from '@pawl/schema/error';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { spawn } from 'node:child_process';
import type { CommandContext } from '../../context.ts';

/** A report of the server's program over its channel. */
type Report =
  | {
      ok: true;
      url: string;
      port: number;
      scenario: string;
      scenarios: string[];
      clients: { cli: string; lines: string[] }[];
    }
  | { ok: false; code: string; message: string; hint: string | null };

/** Runs the scripted model server in the foreground; it ends with this command in any case. */
export async function modelServer(
  context: CommandContext,
  { port, scenario }: { port?: number; scenario?: string },
): Promise<number> {
  const words = [
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(scenario === undefined ? [] : ['--scenario', scenario]),
  ];
  const child = spawn(process.execPath, [...programs.modelServer, ...words], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let failure: PawlError | null = null;
  child.on('message', (report: Report) => {
    if (report.ok) context.answer('model-server', withoutFlag(report), () => page(report));
    else failure = failureOf(report);
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve(status ?? 1));
  });
  if (failure !== null) throw failure;
  return code;
}

function withoutFlag({ url, port, scenario, scenarios, clients }: Report & { ok: true }) {
  return { url, port, scenario, scenarios, clients };
}

function failureOf({ code, message, hint }: Report & { ok: false }): PawlError {
  const known: ErrorCode = Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'internal';
  return new PawlError(known, message, hint === null ? {} : { hint });
}

function page({ url, scenario, scenarios, clients }: Report & { ok: true }): string {
  const setups = clients.map(({ cli, lines }) => [`# ${cli}`, ...lines, ''].join('\n'));
  return [
    `The scripted model listens at ${url} and plays ${scenario}. Ctrl-C ends it.`,
    `Another scenario: put it into the URL, ${url}/s/NAME, or into the prompt, [[scenario:NAME]].`,
    `There are: ${scenarios.join(', ')}.`,
    '',
    ...setups,
  ]
    .join('\n')
    .trimEnd();
}
