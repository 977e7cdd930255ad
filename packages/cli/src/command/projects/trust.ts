import { count } from '@pawl/present/amount';
import { printableLine } from '@pawl/present/text';
import type { TrustAnswer } from '@pawl/protocol/definitions/view';
import type { TrustList } from '@pawl/protocol/definitions/view';
import { resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { Person } from '../../agent/person.ts';
import { agrees, atTerminal } from '../../agent/person.ts';

export type TrustOptions = { revoke?: boolean; list?: boolean; yes?: boolean };

/**
 * Trusts a repository's files as they are now, or revokes that. At a terminal, shows what the files would do, asks, and
 * trusts exactly what was shown; a script has already decided.
 */
export async function trust(
  context: CommandContext,
  path: string,
  options: TrustOptions,
  person: Person = atTerminal(),
): Promise<number> {
  const place = resolve(path);
  const send = (body: object) => withDaemon(context.home, (client) => client.trust({ path: place, ...body }));
  const tell = (answer: TrustAnswer) =>
    context.answer('trust', answer, () => describeTrust(context, answer, options.revoke ?? false));
  if (options.revoke) {
    tell(await send({ revoke: true }));
    return 0;
  }
  const look = () => withDaemon(context.home, (client) => client.trustList({ path: place }));
  if (options.list) {
    const list = await look();
    context.answer('trust-list', list, () => describeFiles(context, list));
    return 0;
  }
  const asks = person.present && !options.yes && !context.json && !context.quiet;
  if (!asks) {
    tell(await send({}));
    return 0;
  }
  const list = await look();
  context.say(describeFiles(context, list));
  const shown = list.files.flatMap((file) => (file.sha256 === null ? [] : [{ path: file.path, sha256: file.sha256 }]));
  if (list.files.every(({ trusted, sha256 }) => trusted || sha256 === null)) return 0;
  if (!agrees(await person.ask('Trust these files as they are now? [y/N] '))) {
    context.say('nothing was trusted');
    return 0;
  }
  tell(await send({ shown }));
  return 0;
}

function describeTrust({ colours }: CommandContext, { project, files }: TrustAnswer, revoked: boolean): string {
  if (revoked) return `nothing of ${colours.bold(project)} is trusted any more`;
  if (files.length === 0) {
    return `${colours.bold(project)} has no definition or settings files; there is nothing to trust`;
  }
  return [
    `${count(files.length, 'file')} of ${colours.bold(project)} ${files.length === 1 ? 'is' : 'are'} trusted as ${files.length === 1 ? 'it is' : 'they are'} now:`,
    ...files.map((file) => `  ${printableLine(file)}`),
  ].join('\n');
}

/** Each file with whether it is trusted and what it would do. */
export function describeFiles({ colours }: CommandContext, { project, root, files }: TrustList): string {
  if (files.length === 0) return `${colours.bold(project)} has no definition or settings files`;
  return [
    `${colours.bold(project)} (${printableLine(root)}) brings:`,
    ...files.flatMap((file) => {
      const state = file.trusted
        ? colours.green('trusted')
        : file.reason === null
          ? colours.yellow('not trusted')
          : colours.red(`cannot be trusted: it ${printableLine(file.reason)}`);
      const what = whatIs(file);
      return [
        `  ${colours.bold(printableLine(file.path))}  ${printableLine(what)}  ${state}`,
        ...file.does.map((line) => `    ${printableLine(line)}`),
      ];
    }),
  ].join('\n');
}

function whatIs({ kind, providers }: TrustList['files'][number]): string {
  if (kind === 'definition') return 'a definition';
  return kind === 'rules' ? 'rules that allow' : `settings for ${providers.join(', ')}`;
}
