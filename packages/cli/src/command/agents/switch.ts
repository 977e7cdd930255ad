import { printableLine } from '@pawl/present/text';
import type { Selection } from '@pawl/protocol/registry/view';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { Palette } from '../../terminal/palette.ts';
import { cut } from '../../terminal/palette.ts';

/** Shows the current agent and its neighbours; with an argument, switches first. */
export async function switchTo(context: CommandContext, to: string | undefined): Promise<number> {
  const selection = await withDaemon(context.home, (client) =>
    to === undefined ? client.selection() : client.switchAgent({ to }),
  );
  context.answer('desk', selection, () => {
    const draft = printableLine(selection.draft.input);
    const line = separator(selection, context.colours);
    return [line, ...(draft === '' ? [] : [context.colours.dim(`draft: ${draft}`)])]
      .map((each) => cut(each, context.columns))
      .join('\n');
  });
  return 0;
}

/** Renders the position: `↑parent ←previous [current] →next ↓child`, with `-` for none. */
export function separator({ current, parent, previous, next, child }: Selection, colours: Palette): string {
  const name = (agent: { alias: string } | null) => agent?.alias ?? '-';
  return `${colours.dim(`↑${name(parent)} ←${name(previous)}`)} ${colours.bold(`[${current.alias}]`)} ${colours.dim(`→${name(next)} ↓${name(child)}`)}`;
}
