import { isAuthor } from '@pawl/core/landing';
import { notCommitted } from '@pawl/core/ratchet/merge-leave';
import type { DoneRules, WhenDone } from '@pawl/core/ratchet/when-done';
import { whenDone } from '@pawl/core/ratchet/when-done';
import type { Merging } from '@pawl/protocol/view';
import { remoteUrl } from '@pawl/git/remote';
import { withoutSecret } from '@pawl/git/remote-url';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { projectSettings } from '@pawl/store/project-settings';
import { queueOf } from '@pawl/store/queues';
import type { Workshop } from '../workshop.ts';
import { repositoryOf } from '../workshop.ts';
import { projectRules } from './change-rules.ts';
import { rulesFrom } from './facts.ts';

/** Reads a project's rules for merging, with the address that a merge pushes to. */
export async function mergeRules(shop: Workshop, project: Project): Promise<DoneRules> {
  const { db } = shop.store;
  const { config, branch } = await projectRules(shop, project);
  const settings = await projectSettings(db, project.id);
  const rules = rulesFrom({ config, settings, queue: await queueOf(db, project.id) });
  return { ...rules, branch, remote: await remoteShown(shop, project, config.remote) };
}

async function remoteShown(shop: Workshop, project: Project, name: string | null): Promise<DoneRules['remote']> {
  const url = name === null ? null : await remoteUrl(await repositoryOf(shop, project), name);
  return name === null || url === null ? null : { name, url: withoutSecret(url) };
}

/** Says what a project's configuration means once it is committed; null when it cannot be read. */
export async function mergingOf(shop: Workshop, project: Project): Promise<Merging | null> {
  try {
    const rules = await mergeRules(shop, project);
    const { branch, remote, pushAllowed } = rules;
    const missing = rules.source === 'checkout' ? notCommitted({ branch, remote: remote?.name ?? null }) : null;
    return { ...whenDone({ ...rules, source: 'commit' }), branch, remote, pushAllowed, notCommitted: missing };
  } catch (error) {
    if (error instanceof PawlError) return null;
    throw error;
  }
}

/** Says what becomes of an agent's branch when the agent is done; null for one whose work is not proposed by itself. */
export async function whenDoneFor(shop: Workshop, agent: Agent, project: Project | null): Promise<WhenDone | null> {
  if (project === null || !isAuthor(agent)) return null;
  try {
    const isScripted = shop.providers.find(agent.provider)?.scripted === true;
    const { playground } = (await projectRules(shop, project)).config;
    return whenDone(await mergeRules(shop, project), isScripted && !playground);
  } catch (error) {
    if (error instanceof PawlError) return whenDone(null);
    throw error;
  }
}
