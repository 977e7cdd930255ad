const keyName = 'pawl-page-key';

/** The key that proves, beside the cookie, that this page opened its session; kept for this origin only. */
export function readPageKey(): string | null {
  return localStorage.getItem(keyName);
}

export function keepPageKey(key: string): void {
  localStorage.setItem(keyName, key);
}

/** Takes the code out of the address, so that it is neither kept in the history nor copied. */
export function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}
