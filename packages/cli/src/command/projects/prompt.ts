import { printable, printableLine } from '@pawl/present/text';
import type { InputView, PromptView } from '@pawl/protocol/prompts/view';
import { agentOrCurrent } from '../../agent/current-agent.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { Palette } from '../../terminal/palette.ts';

/** Shows the prompt of an agent's session. */
export async function prompt(
  context: CommandContext,
  given: string | undefined,
  { session }: { session?: number },
): Promise<number> {
  const reference = await agentOrCurrent(context.home, given);
  const query = session === undefined ? {} : { session };
  const sent = await withDaemon(context.home, (client) => client.agentPrompt(reference, query));
  context.answer('prompt', sent, () => describePrompt(sent, context.colours));
  return 0;
}

/** Shows an agent's input files. */
export async function inputs(context: CommandContext, given: string | undefined): Promise<number> {
  const reference = await agentOrCurrent(context.home, given);
  const files = await withDaemon(context.home, (client) => client.agentInputs(reference));
  context.answer('inputs', files, () => describeInputs(files, context.colours));
  return 0;
}

function describePrompt({ session, system, turn, bytes, truncated }: PromptView, colours: Palette): string {
  const head = (name: string) => colours.dim(`── session ${session.no} (${session.purpose}): ${name}`);
  return [
    ...(system === '' ? [] : [head('system prompt'), printable(system.trimEnd())]),
    head('first message'),
    printable(turn.trimEnd()),
    ...(truncated ? [colours.yellow(`… cut; all of it has ${bytes} bytes`)] : []),
  ].join('\n');
}

function describeInputs({ files, truncated }: InputView, colours: Palette): string {
  const shown = files.flatMap((file) => [
    colours.dim(`── ${printableLine(file.path)} (${file.bytes} bytes)`),
    file.content === null ? colours.dim('not text') : printable(file.content.trimEnd()),
    ...(file.truncated ? [colours.yellow('… cut')] : []),
  ]);
  if (files.length === 0) shown.push(colours.dim('no files'));
  if (truncated) shown.push(colours.yellow('not everything is shown'));
  return shown.join('\n');
}
