import type { Finding } from '@pawl/protocol/view';
import type { ProviderList } from '@pawl/protocol/view/provider';
import { capabilitiesOf } from '@pawl/providers/capability';
import { detectProviders, programOf } from '@pawl/providers/detect';
import type { Workshop } from '../workshop.ts';

type ProviderShop = Pick<Workshop, 'providers' | 'choices' | 'environment'>;

/** Every provider: whether its program is on this machine, and what it can do. */
export async function listProviders({ providers, choices, environment }: ProviderShop): Promise<ProviderList> {
  const detected = await detectProviders(providers.list(), environment);
  return {
    providers: providers.list().map((preset) => ({
      name: preset.name,
      description: preset.description,
      program: programOf(preset),
      path: detected.get(preset.name)?.path ?? null,
      version: detected.get(preset.name)?.version ?? null,
      install: preset.install,
      isDefault: preset.name === choices.provider,
      capabilities: capabilitiesOf(preset),
      options: Object.keys(preset.options),
    })),
    problems: providers.problems(),
  };
}

/** What is to be said about providers: those that are installed, a default that is not, and entries that are not right. */
export async function checkProviders(shop: ProviderShop): Promise<Finding[]> {
  const { providers, problems } = await listProviders(shop);
  const installed = providers.filter(({ path, install }) => path !== null && install !== null);
  return [
    ...installed.map(({ name, version, path }): Finding => {
      const message = `${name}${version === null ? '' : ` ${version}`} at ${path}`;
      return { check: 'provider', level: 'ok', message, fixable: false };
    }),
    ...defaultFinding(shop, providers),
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
        : 'Choose another one as `provider` in config.yaml; `pawl providers` shows what there is.',
      fixable: false,
    },
  ];
}
