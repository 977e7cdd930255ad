import { ago, count } from '@pawl/present/amount';
import { printableLine } from '@pawl/present/text';
import { PawlError } from '@pawl/schema/error';
import { refuseAgents } from '../../agent/person-only.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { table } from '../../terminal/table.ts';
import { openBrowser } from './open-browser.ts';

/** Opens the page with a code for one use. */
export async function openPage(context: CommandContext, options: { open: boolean; print?: boolean }): Promise<number> {
  await refuseAgents(context.home, 'open the page');
  const { code, expiresAt, port } = await withDaemon(context.home, (client) => client.webCode());
  const page = `http://127.0.0.1:${port}/`;
  // Browsers never send the part after #.
  const url = `${page}#code=${code}`;
  const opened = options.open && !options.print && !context.json && (await openBrowser(url));
  context.answer('web', { url, page, expiresAt, opened }, () => {
    if (options.print) return url;
    if (opened) return `opened ${page} in your browser`;
    return [
      url,
      `Open it in a browser within 30 seconds; it is valid once. On another machine, first run there:`,
      `  ssh -N -L ${port}:127.0.0.1:${port} ${process.env['SSH_CONNECTION'] ? 'THIS-MACHINE' : 'MACHINE'}`,
    ].join('\n');
  });
  return 0;
}

/** Lists the sessions of browsers, or revokes some. */
export async function webSessions(
  context: CommandContext,
  options: { revoke?: string; all?: boolean },
): Promise<number> {
  if (options.revoke !== undefined && options.all)
    throw new PawlError('usage', 'Either --revoke or --all.', { hint: '--all revokes every session.' });
  if (options.revoke !== undefined || options.all) {
    const { revoked } = await withDaemon(context.home, (client) => client.revokeWebSessions(options.revoke));
    context.answer('web-sessions-revoked', { revoked }, () => `revoked ${count(revoked.length, 'session')}`);
    return 0;
  }
  const { sessions } = await withDaemon(context.home, (client) => client.webSessions());
  context.answer('web-sessions', { sessions }, () => {
    if (sessions.length === 0) return 'no browser has a session; open one with: pawl web';
    const now = Date.now();
    return table(
      [{ title: 'SESSION' }, { title: 'OPENED' }, { title: 'USED' }, { title: 'BROWSER', flexible: true }],
      sessions.map(({ id, createdAt, usedAt, browser }) => [
        id,
        ago(now - createdAt),
        ago(now - usedAt),
        printableLine(browser),
      ]),
      context.colours,
      context.columns,
    );
  });
  return 0;
}
