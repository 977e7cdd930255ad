import type { TrustAnswer } from '@pawl/protocol/definitions/view';
import type { TrustBody, TrustList } from '@pawl/protocol/definitions/view';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import type { LoadedDefinitions } from '../definitions.ts';
import { projectAround } from '../home-definitions.ts';
import { placesThere } from '../../platform/kept-places.ts';
import type { DefinitionPlatform } from '../definition-platform.ts';
import { projectOf } from '../../platform/platform.ts';
import { providersOf, settingsOfAll } from './known-settings.ts';
import { summarise } from './settings-summary.ts';
import { distrust, trustDefinitions, trustedDefinitions, trustedSettings, trustSettings } from './trusted-files.ts';

/** A project's root, or the worktree of one of its agents. */
type TrustPlace = { project: Project; root: string };
type DefinitionFile = LoadedDefinitions['files'][number];
/** Finds a part of a project's configuration that needs trust. */
type Offer = (project: Project) => Promise<{ path: string; sha256: string; does: string[] } | null>;

/** Lists the files of a repository that need a person's trust, with what they would do. */
export async function listTrust(platform: DefinitionPlatform, path: string, offer: Offer): Promise<TrustList> {
  const place = await placeAround(platform, path);
  const offered = await offeredAt(place, offer);
  const known = new Map(Object.entries(await trustedSettings(platform.store.db, place.project.id)));
  const { definitions, notices } = await definitionFiles(platform, place);
  const trusted = await trustedDefinitions(platform.store.db, place.project.id);
  const settings = await settingsOfAll(platform, place.project, place.root);
  return {
    project: place.project.name,
    root: place.root,
    files: [
      ...definitions.map((file) => ({
        path: relative(place.root, file.path),
        kind: 'definition' as const,
        sha256: file.sha256,
        trusted: trusted[file.path] === file.sha256,
        reason: null,
        providers: [],
        does: notices.filter((notice) => notice.path === file.path).map(({ reason }) => reason),
      })),
      ...settings.map((file) => ({
        path: file.path,
        kind: 'settings' as const,
        sha256: file.content?.sha256 ?? null,
        trusted: file.trusted,
        reason: file.reason,
        providers: providersOf(platform, file.path),
        does: file.content === null ? [] : summarise(file.path, file.content.bytes),
      })),
      ...offered.map((each) => ({
        ...each,
        kind: 'rules' as const,
        trusted: known.get(each.path)?.includes(each.sha256) ?? false,
        reason: null,
        providers: [],
      })),
    ],
  };
}

/**
 * Trusts the definition files and settings of a repository as they are now, or revokes that. With `shown`, only files
 * the person has seen: fails as a whole if one has changed or was added.
 */
export async function trustProject(
  platform: DefinitionPlatform,
  { path, revoke = false, shown }: TrustBody,
  offer: Offer,
): Promise<TrustAnswer> {
  const place = await placeAround(platform, path);
  const { project } = place;
  if (revoke) {
    await platform.store.write(async (tx) => {
      await distrust(tx, project.id);
      tx.emit({ type: 'project.distrusted', projectId: project.id, data: { files: [] } });
    });
    return { project: project.name, files: [] };
  }
  const { definitions } = await definitionFiles(platform, place);
  const settings = (await settingsOfAll(platform, place.project, place.root)).flatMap((file) =>
    file.content === null ? [] : [{ path: file.path, sha256: file.content.sha256 }],
  );
  const named = definitions.map((file) => ({ path: relative(place.root, file.path), sha256: file.sha256 }));
  const offered = (await offeredAt(place, offer)).map(({ path: at, sha256 }) => ({ path: at, sha256 }));
  const all = [...named, ...settings, ...offered];
  if (shown !== undefined) refuseUnseen(all, shown);
  const files = all.map((file) => file.path);
  await platform.store.write(async (tx) => {
    if (place.root === project.root) await trustDefinitions(tx, project.id, definitions);
    await trustSettings(tx, project.id, [...settings, ...offered]);
    tx.emit({ type: 'project.trusted', projectId: project.id, data: { files } });
  });
  return { project: project.name, files };
}

/** Rules come from the project's configuration, not from the worktree of an agent. */
async function offeredAt({ project, root }: TrustPlace, offer: Offer) {
  const offered = root === project.root ? await offer(project) : null;
  return offered === null ? [] : [offered];
}

/** Definitions are read at the root only; those in an agent's worktree do not count. */
async function definitionFiles(
  platform: DefinitionPlatform,
  { project, root }: TrustPlace,
): Promise<{ definitions: DefinitionFile[]; notices: LoadedDefinitions['notices'] }> {
  if (root !== project.root) return { definitions: [], notices: [] };
  const { files, notices } = await platform.definitions.load(project);
  return { definitions: files.filter(({ layer }) => layer === 'repository'), notices };
}

function refuseUnseen(files: { path: string; sha256: string }[], shown: { path: string; sha256: string }[]): void {
  const seen = new Map(shown.map(({ path, sha256 }) => [path, sha256]));
  const unseen = files.filter(({ path, sha256 }) => seen.get(path) !== sha256).map(({ path }) => path);
  if (unseen.length === 0) return;
  throw new PawlError('conflict', `The files have changed since they were shown: ${unseen.join(', ')}.`, {
    hint: 'Nothing was trusted. List them again: pawl trust --list',
  });
}

/** Looks for a worktree first, since it belongs to its project's repository. */
async function placeAround(platform: DefinitionPlatform, path: string): Promise<TrustPlace> {
  const worktree = await worktreeAround(platform, path);
  if (worktree !== null) return worktree;
  const project = await projectAround(platform, path);
  if (project !== null) return { project, root: project.root };
  throw new PawlError('project_not_found', `${path} is not in a project.`, { hint: 'Run `pawl init` there first.' });
}

async function worktreeAround(platform: DefinitionPlatform, path: string): Promise<TrustPlace | null> {
  let real: string;
  try {
    real = await realpath(path);
  } catch {
    return null;
  }
  for (const { agent } of await placesThere(platform)) {
    if (agent.worktree === null || agent.projectId === null) continue;
    const inside = relative(agent.worktree, real);
    if (inside === '' || (!inside.startsWith('..') && !isAbsolute(inside))) {
      return { project: await projectOf(platform.store, agent), root: agent.worktree };
    }
  }
  return null;
}
