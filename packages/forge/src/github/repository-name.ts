/** A repository on GitHub, or on an enterprise server. */
export type GithubRepository = { host: string; owner: string; name: string };

const hostPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;
const ownerPattern = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:_[A-Za-z0-9]+)?$/;
const namePattern = /^[A-Za-z0-9._-]{1,100}$/;

/** The repository argument of `gh`. Includes the host, so that no setting redirects us. */
export function slugOf({ host, owner, name }: GithubRepository): string {
  return `${host}/${owner}/${name}`;
}

/**
 * The repository of a remote URL, or null if it is not GitHub's. Other hosts count only if the person has named them in
 * `GH_HOST`.
 */
export function parseRemote(url: string, enterpriseHost?: string): GithubRepository | null {
  const place = splitAddress(url);
  if (place === null) return null;
  const host = place.host === 'ssh.github.com' ? 'github.com' : place.host;
  if (!hostPattern.test(host) || !isKnown(host, enterpriseHost)) return null;
  const [owner = '', file = '', ...rest] = place.path.split('/');
  const name = file.replace(/\.git$/, '');
  if (rest.length > 0 || !ownerPattern.test(owner) || !namePattern.test(name)) return null;
  return name === '.' || name === '..' ? null : { host, owner, name };
}

function isKnown(host: string, enterpriseHost: string | undefined): boolean {
  return host === 'github.com' || /^[a-z0-9-]+\.ghe\.com$/.test(host) || host === enterpriseHost?.toLowerCase();
}

/** Host and path of `https://…`, `ssh://…`, `git://…`, or of `user@host:path`. */
function splitAddress(url: string): { host: string; path: string } | null {
  const short = /^(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):(?!\/\/)\/?([^\s?#]+?)\/?$/.exec(url);
  if (short !== null) return { host: (short[1] ?? '').toLowerCase(), path: short[2] ?? '' };
  if (!/^(?:https?|ssh|git|git\+ssh):\/\//.test(url) || !URL.canParse(url)) return null;
  const { hostname, pathname, search, hash } = new URL(url);
  if (search !== '' || hash !== '') return null;
  return { host: hostname.toLowerCase(), path: pathname.replace(/^\//, '').replace(/\/$/, '') };
}
