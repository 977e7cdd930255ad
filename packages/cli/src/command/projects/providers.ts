import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import type { ProviderView } from '@pawl/protocol/sessions/view';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { table } from '../../terminal/table.ts';

const columns = [
  { title: 'PROVIDER' },
  { title: 'VERSION' },
  { title: 'RESUME' },
  { title: 'FORK' },
  { title: 'LIVE' },
  { title: 'MCP' },
  { title: 'TOOL GATE' },
  { title: 'ACCOUNTS' },
  { title: 'COST' },
  { title: 'PROGRAM', flexible: true },
];

/** Shows installed coding CLIs and their capabilities; with --all also missing ones. */
export async function providers(context: CommandContext, options: { all?: boolean }): Promise<number> {
  const list = await withDaemon(context.home, (client) => client.listProviders(searchPathOf(process.env)));
  const { colours } = context;
  context.answer('providers', list, () => {
    const shown = list.providers.filter(({ path }) => path !== null || options.all === true);
    const missing = list.providers.filter(({ path }) => path === null);
    return [
      table(
        columns,
        shown.map((provider) => row(provider)),
        colours,
        context.columns,
      ),
      ...(missing.length === 0 ? [] : ['', colours.dim('not installed:')]),
      ...missing.map(({ name, install }) =>
        colours.dim(`  ${name.padEnd(13)} ${printableLine(install ?? '')}`.trimEnd()),
      ),
      ...list.problems.map(({ reason }) => colours.red(printableLine(`config.yaml: ${reason}`))),
    ].join('\n');
  });
  return 0;
}

function row({ name, version, path, isDefault, capabilities: can }: ProviderView) {
  const yes = (value: boolean) => (value ? 'yes' : '-');
  return [
    span(isDefault ? `${name} *` : name, path === null ? 'muted' : 'strong'),
    // A timeout does not mean that it has no version.
    version ?? (path === null ? '-' : 'unknown'),
    yes(can.resume),
    can.fork === 'none' ? '-' : can.fork,
    yes(can.liveFollowUps),
    yes(can.mcp),
    can.toolGate === 'none' ? '-' : can.toolGate,
    can.accounts.join(',') || '-',
    yes(can.reportsCost),
    path ?? 'not installed',
  ];
}
