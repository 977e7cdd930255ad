import { readObject, scriptsOf } from '@pawl/core/guard/package-scripts';
import { gateLimits } from '@pawl/core/guard/gate-limit';
import { PawlError } from '@pawl/schema/error';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { readCheckoutFile } from './checkout-file.ts';

/** A detected command, and the file it comes from. */
export type FoundCheck = { run: string; from: string };

/** Commands that fetch packages. In a sandbox a check has the network only if the configuration says so. */
const fetching = /\b(?:ci|install|deps\.get)\b|^(?:cargo|go|deno|uv|dotnet|gradle|mvn|\.\/gradlew|\.\/mvnw) /;

/** Whether a detected command needs the network. */
export function needsNetwork({ run }: FoundCheck): boolean {
  return fetching.test(run);
}

/** Read access to a checkout. */
type Checkout = {
  has(name: string): boolean;
  /** The text of a file at the root; empty if it is missing or unreadable. */
  text(name: string): Promise<string>;
  /** The names in a directory below the root. */
  names(directory: string): Promise<string[]>;
};

/**
 * Detects a project's checks from the files at its root, without executing anything. Skips commands that the Makefile
 * runs itself, and a Makefile that only calls the package manager.
 */
export async function detectChecks(root: string): Promise<FoundCheck[]> {
  const checkout = await openCheckout(root);
  const found: FoundCheck[] = [];
  for (const detect of [node, deno, make, cargo, go, python, php, elixir, gradle, maven, ruby, dotnet]) {
    const check = await detect(checkout);
    if (check !== null) found.push(check);
  }
  const made = found.find(({ run }) => run.startsWith('make '));
  if (made === undefined) return found;
  const makefile = await checkout.text(made.from);
  const packaged = found.find(({ from }) => from === 'package.json');
  if (packaged !== undefined && /\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|check)\b/.test(makefile)) {
    return found.filter((check) => check !== made);
  }
  return found.filter(({ run }) => !covered.some((command) => run.includes(command) && makefile.includes(command)));
}

/** Commands that a Makefile may run itself. */
const covered = ['cargo test', 'go test', 'pytest', 'deno t', 'mix test', 'gradlew', 'mvn', 'rspec', 'dotnet test'];

async function node(checkout: Checkout): Promise<FoundCheck | null> {
  const text = await checkout.text('package.json');
  const scripts = scriptsOf(text);
  const isPlaceholder = /no test specified/.test(scripts.get('test') ?? '');
  const script = scripts.has('test') && !isPlaceholder ? 'test' : scripts.has('check') ? 'check' : null;
  if (script === null) return null;
  const content = readObject(text) ?? {};
  const manager = managerOf(content['packageManager'], checkout);
  const run = script === 'test' && manager.name !== 'bun' ? `${manager.name} test` : `${manager.name} run ${script}`;
  const needs = ['dependencies', 'devDependencies', 'optionalDependencies', 'workspaces'];
  const hasDependencies = needs.some((key) => Object.keys(content[key] ?? {}).length > 0);
  return { run: hasDependencies ? `${manager.install} && ${run}` : run, from: 'package.json' };
}

/** The package manager that a repository names or has a lockfile of; npm by default. */
function managerOf(named: unknown, checkout: Checkout): { name: string; install: string } {
  const [, said, version = ''] = /^(npm|pnpm|yarn|bun)@(\d*)/.exec(typeof named === 'string' ? named : '') ?? [];
  const locks: Record<string, string[]> = {
    pnpm: ['pnpm-lock.yaml'],
    yarn: ['yarn.lock'],
    bun: ['bun.lock', 'bun.lockb'],
    npm: ['package-lock.json', 'npm-shrinkwrap.json'],
  };
  const name = said ?? Object.keys(locks).find((each) => locks[each]?.some(checkout.has)) ?? 'npm';
  const isLocked = locks[name]?.some(checkout.has) ?? false;
  if (name === 'npm') return { name, install: isLocked ? 'npm ci' : 'npm install' };
  const isModern = name === 'yarn' && (Number(version) > 1 || checkout.has('.yarnrc.yml'));
  const flag = isModern ? '--immutable' : '--frozen-lockfile';
  return { name, install: isLocked ? `${name} install ${flag}` : `${name} install` };
}

async function deno(checkout: Checkout): Promise<FoundCheck | null> {
  const from = ['deno.json', 'deno.jsonc'].find(checkout.has);
  if (from === undefined) return null;
  return { run: /"test"\s*:\s*["{]/.test(await checkout.text(from)) ? 'deno task test' : 'deno test', from };
}

async function make(checkout: Checkout): Promise<FoundCheck | null> {
  const from = ['GNUmakefile', 'makefile', 'Makefile'].find(checkout.has);
  if (from === undefined) return null;
  const text = await checkout.text(from);
  const target = ['test', 'check'].find((name) => new RegExp(`^${name}[ \\t]*::?(?!=)`, 'm').test(text));
  return target === undefined ? null : { run: `make ${target}`, from };
}

async function cargo(checkout: Checkout): Promise<FoundCheck | null> {
  if (!checkout.has('Cargo.toml')) return null;
  const isWorkspace = /^\s*\[workspace[\].]/m.test(await checkout.text('Cargo.toml'));
  return { run: isWorkspace ? 'cargo test --workspace' : 'cargo test', from: 'Cargo.toml' };
}

async function go(checkout: Checkout): Promise<FoundCheck | null> {
  return checkout.has('go.mod') ? { run: 'go test ./...', from: 'go.mod' } : null;
}

async function python(checkout: Checkout): Promise<FoundCheck | null> {
  const from = await pytestFile(checkout);
  if (from === null) return null;
  if (checkout.has('uv.lock')) return { run: 'uv run pytest', from };
  return { run: checkout.has('poetry.lock') ? 'poetry install && poetry run pytest' : 'python3 -m pytest', from };
}

/** The file that suggests pytest: its configuration, or tests that import it. */
async function pytestFile(checkout: Checkout): Promise<string | null> {
  const sections = {
    'pytest.ini': /./,
    'pyproject.toml': /pytest/,
    'setup.cfg': /^\[tool:pytest\]/m,
    'tox.ini': /pytest/,
  };
  for (const [name, section] of Object.entries(sections)) if (section.test(await checkout.text(name))) return name;
  for (const directory of ['tests', 'test', '.']) {
    const file = (await checkout.names(directory)).find((name) => /^test_.*\.py$|_test\.py$/.test(name));
    if (file !== undefined) return directory === '.' ? file : `${directory}/${file}`;
  }
  return null;
}

async function php(checkout: Checkout): Promise<FoundCheck | null> {
  if (!checkout.has('composer.json')) return null;
  const from = 'composer.json';
  if (scriptsOf(await checkout.text(from)).has('test')) return { run: 'composer install && composer test', from };
  const isUnit = ['phpunit.xml', 'phpunit.xml.dist'].some(checkout.has);
  return isUnit ? { run: 'composer install && vendor/bin/phpunit', from } : null;
}

async function elixir(checkout: Checkout): Promise<FoundCheck | null> {
  return checkout.has('mix.exs') ? { run: 'mix deps.get && mix test', from: 'mix.exs' } : null;
}

async function gradle(checkout: Checkout): Promise<FoundCheck | null> {
  return checkout.has('gradlew') ? { run: './gradlew test', from: 'gradlew' } : null;
}

async function maven(checkout: Checkout): Promise<FoundCheck | null> {
  if (!checkout.has('pom.xml') || checkout.has('gradlew')) return null;
  return { run: checkout.has('mvnw') ? './mvnw -B test' : 'mvn -B test', from: 'pom.xml' };
}

async function ruby(checkout: Checkout): Promise<FoundCheck | null> {
  const isSpecified =
    checkout.has('Gemfile') && (await checkout.names('spec')).some((name) => /_spec\.rb$|^spec_helper/.test(name));
  return isSpecified ? { run: 'bundle install && bundle exec rspec', from: 'Gemfile' } : null;
}

async function dotnet(checkout: Checkout): Promise<FoundCheck | null> {
  const from = (await checkout.names('.')).find((name) => /\.slnx?$/.test(name));
  return from === undefined ? null : { run: 'dotnet test', from };
}

async function openCheckout(root: string): Promise<Checkout> {
  const names = (directory: string) => namesIn(join(root, directory));
  const known = new Set(await names('.'));
  return {
    has: (name) => known.has(name),
    text: async (name) => (known.has(name) ? readText(root, name) : ''),
    names,
  };
}

/** Returns nothing for a file that is too large, a link, or not a plain file. */
async function readText(root: string, name: string): Promise<string> {
  try {
    return (await readCheckoutFile(root, name, gateLimits.detectedBytes))?.toString('utf8') ?? '';
  } catch (error) {
    if (error instanceof PawlError) return '';
    throw error;
  }
}

async function namesIn(directory: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(directory)) {
      names.push(name);
      if (names.length >= gateLimits.directoryNames) break;
    }
  } catch {
    return [];
  }
  return names.sort();
}
