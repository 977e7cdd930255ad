import { printableLine } from '@pawl/present/text';
import type { ProviderView } from '@pawl/protocol/sessions/view';
import type { CommandContext } from '../context.ts';

/** Warns about a chosen provider whose program is not on the PATH; the choice counts anyway. */
export function warnIfMissing(
  { say }: Pick<CommandContext, 'say'>,
  { name, program, path, install }: Pick<ProviderView, 'name' | 'program' | 'path' | 'install'>,
): void {
  if (path !== null) return;
  const advice = install === null ? '' : `; install it: ${printableLine(install)}`;
  say(`warning: ${name} is not installed (${printableLine(program)} is not on your PATH)${advice}`);
}
