import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { errorCodes, messageOf, PawlError } from '@pawl/schema/error';
import { builtInScenarios } from './built-in.ts';
import type { ClientSetup } from './client-setup.ts';
import { clientSetups } from './client-setup.ts';
import { readScenarioFile } from './scenario-file.ts';
import type { ModelServer } from './server.ts';
import { startModelServer } from './server.ts';

/** The report to the starting program: listening, or why not. */
export type Report =
  | { ok: true; url: string; port: number; scenario: string; scenarios: string[]; clients: ClientSetup[] }
  | { ok: false; code: string; message: string; hint: string | null };

/** Serves until interrupted, or until the starting program is gone. Reports over its channel, or prints without one. */
export async function main(argv: string[]): Promise<void> {
  const parent = process.send === undefined ? null : (report: Report) => process.send?.(report);
  const tell = parent ?? print;
  try {
    const { port, scenario } = readArguments(argv);
    const server = await startModelServer(await optionsOf(port, scenario));
    endWith(server, parent !== null);
    const { url } = server;
    const scenarios = Object.keys(builtInScenarios);
    tell({ ok: true, url, port: server.port, scenario, scenarios, clients: clientSetups(url) });
  } catch (error) {
    const known = error instanceof PawlError ? error : startFailure(error);
    tell({ ok: false, code: known.code, message: known.message, hint: known.hint ?? null });
    process.exitCode = errorCodes[known.code].exit;
    if (parent !== null) process.disconnect();
  }
}

function readArguments(argv: string[]): { port: number; scenario: string } {
  try {
    const options = { port: { type: 'string', default: '0' }, scenario: { type: 'string', default: 'work' } } as const;
    const { values } = parseArgs({ args: argv, options });
    const port = Number(values.port);
    if (/^\d{1,5}$/.test(values.port) && port < 65_536) return { port, scenario: values.scenario };
    throw new Error(`${JSON.stringify(values.port)} is no port.`);
  } catch (error) {
    throw new PawlError('usage', messageOf(error), { hint: 'It takes --port N and --scenario NAME or FILE.' });
  }
}

async function optionsOf(port: number, scenario: string) {
  if (Object.hasOwn(builtInScenarios, scenario) || !existsSync(scenario)) return { port, fallback: scenario };
  return { port, fallback: scenario, scenarios: { [scenario]: await readScenarioFile(scenario) } };
}

function startFailure(error: unknown): PawlError {
  const hint = 'Leave --port out for any free one.';
  return new PawlError('unavailable', `The server cannot start: ${messageOf(error)}`, { hint, cause: error });
}

/** Exits on any signal, and with the starting program. */
function endWith(server: ModelServer, hasParent: boolean): void {
  const end = (code: number) => void server.close().finally(() => process.exit(code));
  process.once('SIGINT', () => end(130));
  process.once('SIGTERM', () => end(143));
  if (hasParent) process.once('disconnect', () => end(0));
}

function print(report: Report): void {
  if (!report.ok) {
    process.stderr.write(`model-server: ${[report.message, report.hint].filter(Boolean).join(' ')}\n`);
    return;
  }
  process.stdout.write(`${report.url}\n`);
}
