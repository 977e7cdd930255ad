import type { Finding } from '@pawl/protocol/daemon/view';
import type { ProviderList } from '@pawl/protocol/sessions/view';
import { capabilitiesOf } from '@pawl/providers/capability';
import type { KnownVersions } from '@pawl/providers/detect';
import { detectProviders, installedAgents, programOf } from '@pawl/providers/detect';
import type { Cache } from '../platform/caches.ts';
import type { Platform } from '../platform/platform.ts';

type ProviderContext = Pick<Platform, 'providers' | 'environment' | 'caches'> & {
  choices: Pick<Platform['choices'], 'provider'>;
  /** The PATH to look up programs. */
  path: string;
};

const versions: Cache<KnownVersions> = { empty: () => new Map() };

/** All providers: whether the program is on the PATH, and its abilities. */
export async function listProviders(context: ProviderContext): Promise<ProviderList> {
  const { providers, choices } = context;
  const found = { ...context.environment, PATH: context.path };
  const detected = await detectProviders(providers.list(), found, context.caches.of(versions));
  const installed = await installedAgents(providers.list(), found);
  const usual = choices.provider ?? (installed.length === 1 ? installed[0]?.name : null);
  return {
    providers: providers.list().map((preset) => ({
      name: preset.name,
      description: preset.description,
      program: programOf(preset),
      path: detected.get(preset.name)?.path ?? null,
      version: detected.get(preset.name)?.version ?? null,
      install: preset.install,
      isDefault: preset.name === usual,
      capabilities: capabilitiesOf(preset),
      options: Object.keys(preset.options),
    })),
    problems: providers.problems(),
  };
}

/** Reports installed providers, a default that is missing, and invalid entries. */
export async function checkProviders(platform: ProviderContext): Promise<Finding[]> {
  const { providers, problems } = await listProviders(platform);
  const installed = providers.filter(({ path, install }) => path !== null && install !== null);
  return [
    ...installed.map(({ name, version, path }): Finding => {
      const message = `${name}${version === null ? '' : ` ${version}`} at ${path}`;
      return { check: 'provider', level: 'ok', message, fixable: false };
    }),
    ...defaultFinding(platform, providers),
    ...problems.map(({ reason }): Finding => ({
      check: 'provider',
      level: 'warning',
      message: `config.yaml: ${reason}`,
      hint: 'It is ignored. Correct it, then: pawl down && pawl up',
      fixable: false,
    })),
  ];
}

function defaultFinding({ choices }: ProviderContext, providers: ProviderList['providers']): Finding[] {
  const usual = providers.find(({ isDefault }) => isDefault);
  if (usual !== undefined && usual.path !== null) return [];
  if (choices.provider === null) {
    if (providers.some(({ path, install }) => path !== null && install !== null)) return [];
    const message = 'no coding agent is installed';
    const hint = '`pawl providers --all` shows how to install one.';
    return [{ check: 'provider', level: 'warning', message, hint, fixable: false }];
  }
  return [
    {
      check: 'provider',
      level: 'warning',
      message:
        usual === undefined
          ? `the default provider ${choices.provider} does not exist`
          : `the default provider ${usual.name} is not installed`,
      hint: usual?.install
        ? `Install it: ${usual.install}`
        : 'Choose another one: pawl config set provider NAME; `pawl providers` lists them.',
      fixable: false,
    },
  ];
}
