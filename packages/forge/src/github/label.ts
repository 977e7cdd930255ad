import { forgeLabels } from '@pawl/core/port/forge';
import { PawlError } from '@pawl/schema/error';
import { say } from './answer.ts';
import type { Gh } from './gh.ts';
import { ghFailed } from './gh-failure.ts';
import type { GithubRepository } from './repository-name.ts';
import { slugOf } from './repository-name.ts';

const looks: Record<string, { color: string; description: string }> = {
  [forgeLabels.ours]: { color: '5319e7', description: 'Looked after by the merge queue' },
  [forgeLabels.needsPerson]: { color: 'd93f0b', description: 'Waits for a person' },
};

/** The labels that we use. */
export function createLabels(gh: Gh, repository: GithubRepository) {
  const slug = slugOf(repository);
  const known = new Set<string>();
  const path = (ref: string) => `repos/${repository.owner}/${repository.name}/issues/${ref}/labels`;
  const api = ['api', `--hostname=${repository.host}`];

  /** Creates a label unless it exists. */
  const ensure = async (label: string): Promise<void> => {
    if (known.has(label)) return;
    const { color = 'cccccc', description = '' } = looks[label] ?? {};
    const words = ['label', 'create', label, `--repo=${slug}`, `--color=${color}`, `--description=${description}`];
    const output = await gh(words);
    if (output.exitCode !== 0 && !output.stderr.includes('already exists')) throw ghFailed(words, output);
    known.add(label);
  };
  return {
    ensure,
    // Not by `gh pr edit`: versions up to 2.82 query classic projects with it, which GitHub answers with an error.
    async add(ref: string, labels: readonly string[]): Promise<void> {
      for (const label of labels) await ensure(label);
      await say(gh, [...api, '--method=POST', path(ref), '--input=-', '--silent'], JSON.stringify({ labels }));
    },
    async remove(ref: string, label: string): Promise<void> {
      try {
        await say(gh, [...api, '--method=DELETE', `${path(ref)}/${encodeURIComponent(label)}`, '--silent']);
      } catch (error) {
        // It does not have it, as wanted.
        if (!(error instanceof PawlError && error.code === 'not_found')) throw error;
      }
    },
  };
}
