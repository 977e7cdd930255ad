import { printable } from '@pawl/present/text';
import type { Diagnosis, Finding } from '@pawl/protocol/daemon/view';
import { version } from '@pawl/protocol/node/programs';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { answers, reachDaemon } from '../../daemon/launch.ts';

/** Diagnoses this machine and this home; --fix repairs what can be repaired. */
export async function doctor(context: CommandContext, options: { fix?: boolean }): Promise<number> {
  const up = await answers(context.home);
  const diagnosis = await askDaemon(context, options.fix ?? false);
  const isUp = up || !diagnosis.findings.some(({ check }) => check === 'start');
  const absent = isUp ? 'was not running; started it to look further' : 'does not run';
  const local: Finding[] = [
    { check: 'node', level: 'ok', message: `Node ${process.versions.node}, pawl ${version}`, fixable: false },
    up
      ? { check: 'daemon', level: 'ok', message: `answers on ${context.home.socket}`, fixable: false }
      : { check: 'daemon', level: 'warning', message: absent, fixable: false },
  ];
  const findings = [...local, ...diagnosis.findings];
  context.answer('diagnosis', { findings, fixed: diagnosis.fixed }, () =>
    [
      ...findings.map((finding) => describe(finding, context)),
      ...diagnosis.fixed.map((done) => `${context.colours.green('fixed')}  ${printable(done)}`),
    ].join('\n'),
  );
  return findings.some((finding) => finding.level === 'error') ? 1 : 0;
}

/** The daemon's findings, or why it cannot be started, as a finding. */
async function askDaemon(context: CommandContext, repair: boolean): Promise<Diagnosis> {
  try {
    return await (await reachDaemon(context.home)).doctor({ repair });
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const { message, hint } = error;
    return {
      findings: [{ check: 'start', level: 'error', message, ...(hint !== undefined && { hint }), fixable: false }],
      fixed: [],
    };
  }
}

function describe({ check, level, message, hint, fixable }: Finding, { colours }: CommandContext): string {
  const mark = { ok: colours.green('ok     '), warning: colours.yellow('warning'), error: colours.red('error  ') }[
    level
  ];
  const advice = hint ?? (fixable ? '`pawl doctor --fix` repairs this.' : undefined);
  return `${mark}  ${check.padEnd(12)} ${printable(message)}${advice === undefined ? '' : `\n         ${colours.dim(`→ ${printable(advice)}`)}`}`;
}
