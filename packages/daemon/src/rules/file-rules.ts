import { ruleText, parseRule } from '@pawl/core/rules/rule-match';
import { messageOf } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import type { Rule } from '@pawl/schema/rule';
import { createHash } from 'node:crypto';
import { trustedSettings } from '../definitions/trust/trusted-files.ts';
import type { Platform } from '../platform/platform.ts';
import { configPath } from '../project-config/config-file.ts';
import { configOf } from '../project-config/project-rules.ts';

export type RulePlatform = Pick<Platform, 'store' | 'home' | 'caches' | 'repositories' | 'currentChoices'>;

/** A rule of the home's `config.yaml`, or of a repository; an allow rule of a repository counts only if trusted. */
export type FileRule = Pick<Rule, 'effect' | 'match'> & { project: Project | null; counts: boolean };

/** The rules in files, and why some cannot be read: then nothing may be allowed, since a deny rule may be missing. */
export async function fileRules(
  platform: RulePlatform,
  projects: readonly Project[],
): Promise<{ rules: FileRule[]; trouble: string | null }> {
  const rules: FileRule[] = [];
  let trouble: string | null = null;
  try {
    const { rules: own } = await platform.currentChoices();
    rules.push(...own.map((rule) => ({ ...rule, project: null, counts: true })));
  } catch (error) {
    trouble = messageOf(error);
  }
  for (const project of projects) {
    const config = await configOf(platform, project);
    if (config.found === null) {
      trouble ??= config.trouble;
      continue;
    }
    const offered = offeredIn(config.found.rules);
    const isTrusted = offered !== null && (await isTrustedContent(platform, project, offered.sha256));
    rules.push(
      ...config.found.rules.map((rule) => ({ ...rule, project, counts: rule.effect === 'deny' || isTrusted })),
    );
  }
  return { rules, trouble };
}

/** The allow rules of a project's configuration, as one item that a person may trust; null if there are none. */
export async function offeredRules(
  platform: RulePlatform,
  project: Project,
): Promise<{ path: string; sha256: string; does: string[] } | null> {
  const { found } = await configOf(platform, project);
  return found === null ? null : offeredIn(found.rules);
}

/** Identifies allow rules by their texts: other parts of the file, and deny rules, may change without losing trust. */
function offeredIn(rules: readonly Pick<Rule, 'effect' | 'match'>[]) {
  const texts = rules
    .filter(({ effect }) => effect === 'allow')
    .map(({ match }) => ruleText(parseRule('allow', match)));
  if (texts.length === 0) return null;
  const sha256 = createHash('sha256').update(JSON.stringify(texts.toSorted())).digest('hex');
  return { path: configPath, sha256, does: texts.map((text) => `allows agents without asking: ${text}`) };
}

async function isTrustedContent({ store }: RulePlatform, project: Project, sha256: string): Promise<boolean> {
  const trusted = new Map(Object.entries(await trustedSettings(store.db, project.id)));
  return trusted.get(configPath)?.includes(sha256) ?? false;
}
