import { readObject, scriptsOf } from '@pawl/core/guard/package-scripts';
import { gateLimits } from '@pawl/core/guard/gate-limit';
import { PawlError } from '@pawl/schema/error';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { readCheckoutFile } from './checkout-file.ts';

/** A detected command, and the file it comes from. */
export type FoundCheck = { run: string; from: string };

/** Read access to a checkout. */
type Look = {
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
  const look = await lookAt(root);
  const found: FoundCheck[] = [];
  for (const detect of [node, deno, make, cargo, go, python, php, elixir, gradle, maven, ruby, dotnet]) {
    const check = await detect(look);
    if (check !== null) found.push(check);
  }
  const made = found.find(({ run }) => run.startsWith('make '));
  if (made === undefined) return found;
  const makefile = await look.text(made.from);
  const packaged = found.find(({ from }) => from === 'package.json');
  if (packaged !== undefined && /\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|check)\b/.test(makefile)) {
    return found.filter((check) => check !== made);
  }
  return found.filter(({ run }) => !covered.some((command) => run.includes(command) && makefile.includes(command)));
}

/** Commands that a Makefile may run itself. */
const covered = ['cargo test', 'go test', 'pytest', 'deno t', 'mix test', 'gradlew', 'mvn', 'rspec', 'dotnet test'];

async function node(look: Look): Promise<FoundCheck | null> {
  const text = await look.text('package.json');
  const scripts = scriptsOf(text);
  const isPlaceholder = /no test specified/.test(scripts.get('test') ?? '');
  const script = scripts.has('test') && !isPlaceholder ? 'test' : scripts.has('check') ? 'check' : null;
  if (script === null) return null;
  const content = readObject(text) ?? {};
  const manager = managerOf(content['packageManager'], look);
  const run = script === 'test' && manager.name !== 'bun' ? `${manager.name} test` : `${manager.name} run ${script}`;
  const needs = ['dependencies', 'devDependencies', 'optionalDependencies', 'workspaces'];
  const hasDependencies = needs.some((key) => Object.keys(content[key] ?? {}).length > 0);
  return { run: hasDependencies ? `${manager.install} && ${run}` : run, from: 'package.json' };
}

/** The package manager that a repository names or has a lockfile of; npm by default. */
function managerOf(named: unknown, look: Look): { name: string; install: string } {
  const [, said, version = ''] = /^(npm|pnpm|yarn|bun)@(\d*)/.exec(typeof named === 'string' ? named : '') ?? [];
  const locks: Record<string, string[]> = {
    pnpm: ['pnpm-lock.yaml'],
    yarn: ['yarn.lock'],
    bun: ['bun.lock', 'bun.lockb'],
    npm: ['package-lock.json', 'npm-shrinkwrap.json'],
  };
  const name = said ?? Object.keys(locks).find((each) => locks[each]?.some(look.has)) ?? 'npm';
  const isLocked = locks[name]?.some(look.has) ?? false;
  if (name === 'npm') return { name, install: isLocked ? 'npm ci' : 'npm install' };
  const isModern = name === 'yarn' && (Number(version) > 1 || look.has('.yarnrc.yml'));
  const flag = isModern ? '--immutable' : '--frozen-lockfile';
  return { name, install: isLocked ? `${name} install ${flag}` : `${name} install` };
}

async function deno(look: Look): Promise<FoundCheck | null> {
  const from = ['deno.json', 'deno.jsonc'].find(look.has);
  if (from === undefined) return null;
  return { run: /"test"\s*:\s*["{]/.test(await look.text(from)) ? 'deno task test' : 'deno test', from };
}

async function make(look: Look): Promise<FoundCheck | null> {
  const from = ['GNUmakefile', 'makefile', 'Makefile'].find(look.has);
  if (from === undefined) return null;
  const text = await look.text(from);
  const target = ['test', 'check'].find((name) => new RegExp(`^${name}[ \\t]*::?(?!=)`, 'm').test(text));
  return target === undefined ? null : { run: `make ${target}`, from };
}

async function cargo(look: Look): Promise<FoundCheck | null> {
  if (!look.has('Cargo.toml')) return null;
  const isWorkspace = /^\s*\[workspace[\].]/m.test(await look.text('Cargo.toml'));
  return { run: isWorkspace ? 'cargo test --workspace' : 'cargo test', from: 'Cargo.toml' };
}

async function go(look: Look): Promise<FoundCheck | null> {
  return look.has('go.mod') ? { run: 'go test ./...', from: 'go.mod' } : null;
}

async function python(look: Look): Promise<FoundCheck | null> {
  const from = await pytestFile(look);
  if (from === null) return null;
  if (look.has('uv.lock')) return { run: 'uv run pytest', from };
  return { run: look.has('poetry.lock') ? 'poetry install && poetry run pytest' : 'python3 -m pytest', from };
}

/** The file that suggests pytest: its configuration, or tests that import it. */
async function pytestFile(look: Look): Promise<string | null> {
  const sections = {
    'pytest.ini': /./,
    'pyproject.toml': /pytest/,
    'setup.cfg': /^\[tool:pytest\]/m,
    'tox.ini': /pytest/,
  };
  for (const [name, section] of Object.entries(sections)) if (section.test(await look.text(name))) return name;
  for (const directory of ['tests', 'test', '.']) {
    const file = (await look.names(directory)).find((name) => /^test_.*\.py$|_test\.py$/.test(name));
    if (file !== undefined) return directory === '.' ? file : `${directory}/${file}`;
  }
  return null;
}

async function php(look: Look): Promise<FoundCheck | null> {
  if (!look.has('composer.json')) return null;
  const from = 'composer.json';
  if (scriptsOf(await look.text(from)).has('test')) return { run: 'composer install && composer test', from };
  const isUnit = ['phpunit.xml', 'phpunit.xml.dist'].some(look.has);
  return isUnit ? { run: 'composer install && vendor/bin/phpunit', from } : null;
}

async function elixir(look: Look): Promise<FoundCheck | null> {
  return look.has('mix.exs') ? { run: 'mix deps.get && mix test', from: 'mix.exs' } : null;
}

async function gradle(look: Look): Promise<FoundCheck | null> {
  return look.has('gradlew') ? { run: './gradlew test', from: 'gradlew' } : null;
}

async function maven(look: Look): Promise<FoundCheck | null> {
  if (!look.has('pom.xml') || look.has('gradlew')) return null;
  return { run: look.has('mvnw') ? './mvnw -B test' : 'mvn -B test', from: 'pom.xml' };
}

async function ruby(look: Look): Promise<FoundCheck | null> {
  const isSpecified =
    look.has('Gemfile') && (await look.names('spec')).some((name) => /_spec\.rb$|^spec_helper/.test(name));
  return isSpecified ? { run: 'bundle install && bundle exec rspec', from: 'Gemfile' } : null;
}

async function dotnet(look: Look): Promise<FoundCheck | null> {
  const from = (await look.names('.')).find((name) => /\.slnx?$/.test(name));
  return from === undefined ? null : { run: 'dotnet test', from };
}

async function lookAt(root: string): Promise<Look> {
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
