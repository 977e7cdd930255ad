import type { Finding } from '@pawl/protocol/daemon/view';
import type { ProviderList } from '@pawl/protocol/sessions/view';
import { capabilitiesOf } from '@pawl/providers/capability';
import { detectProviders, installedAgents, programOf } from '@pawl/providers/detect';
import type { Platform } from '../platform/platform.ts';

type ProviderShop = Pick<Platform, 'providers' | 'environment'> & {
  choices: Pick<Platform['choices'], 'provider'>;
  /** Where programs are looked up. */
  path: string;
};

/** Every provider: whether its program is on the PATH, and what it can do. */
export async function listProviders({ providers, choices, environment, path }: ProviderShop): Promise<ProviderList> {
  const found = { ...environment, PATH: path };
  const detected = await detectProviders(providers.list(), found);
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

/** What is to be said about providers: those that are installed, a default that is not, and entries that are not right. */
export async function checkProviders(platform: ProviderShop): Promise<Finding[]> {
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
      hint: 'It is left out. Correct it, then: pawl down && pawl up',
      fixable: false,
    })),
  ];
}

function defaultFinding({ choices }: ProviderShop, providers: ProviderList['providers']): Finding[] {
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
          ? `the default provider ${choices.provider} is none that there is`
          : `the default provider ${usual.name} is not installed`,
      hint: usual?.install
        ? `Install it: ${usual.install}`
        : 'Choose another one: pawl config set provider NAME; `pawl providers` shows what there is.',
      fixable: false,
    },
  ];
}
