import type { AgentView } from '@pawl/protocol/agents/view';
import type { Mail } from '@pawl/schema/mail';
import { listMail } from '@pawl/store/mail/mail';
import { waitUntil } from '@pawl/testing/wait-until';
import type { Client } from '@pawl/protocol/client';
import { viewOf } from './daemon.ts';
import { withStore } from './stores.ts';

/** The mails that announced an agent's completion, oldest first. */
export async function completionMails(home: string, fromId: string): Promise<Mail[]> {
  const mails = await withStore(home, (store) => listMail(store.db, { fromId, limit: 100 }));
  return mails.filter(({ kind }) => kind === 'completion').toReversed();
}

/** Waits until an agent is dead and its worktree is settled. */
export async function cleanedUp(client: Client, agentId: string): Promise<AgentView> {
  let view: AgentView | undefined;
  await waitUntil(
    async () => {
      view = await viewOf(client, agentId);
      return view.status === 'dead' && view.worktreeEnd !== null;
    },
    { what: `${agentId} to be cleaned up` },
  );
  return view as AgentView;
}
