import { printableLine } from '@pawl/present/text';
import type { Desk } from '@pawl/protocol/registry/view';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { Palette } from '../../terminal/palette.ts';
import { cut } from '../../terminal/palette.ts';

/** Shows the current agent and its neighbours; with an argument, switches first. */
export async function switchTo(context: CommandContext, to: string | undefined): Promise<number> {
  const desk = await withDaemon(context.home, (client) =>
    to === undefined ? client.desk() : client.switchDesk({ to }),
  );
  context.answer('desk', desk, () => {
    const draft = printableLine(desk.draft.input);
    const line = separator(desk, context.colours);
    return [line, ...(draft === '' ? [] : [context.colours.dim(`draft: ${draft}`)])]
      .map((each) => cut(each, context.columns))
      .join('\n');
  });
  return 0;
}

/** Renders the position: `↑parent ←previous [current] →next ↓child`, with `-` for none. */
export function separator({ current, parent, previous, next, child }: Desk, colours: Palette): string {
  const name = (agent: { alias: string } | null) => agent?.alias ?? '-';
  return `${colours.dim(`↑${name(parent)} ←${name(previous)}`)} ${colours.bold(`[${current.alias}]`)} ${colours.dim(`→${name(next)} ↓${name(child)}`)}`;
}
